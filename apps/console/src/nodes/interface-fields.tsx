import { Plus, Trash2 } from 'lucide-react'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { CheckField, TextField } from '@/ui/field.tsx'
import type { NodeHead } from './node-documents.ts'

/** An interface in a form; `addresses` has one `address@network` per word. */
export type InterfaceForm = { name: string; mac: string; isBoot: boolean; addresses: string }
type Props = {
  value: InterfaceForm[]
  onChange: (value: InterfaceForm[]) => void
  error: (path: string) => string | undefined
}

/** The network interfaces of a node: rows to add, change and remove. */
export function InterfaceFields({ value, onChange, error }: Props) {
  const change = (at: number, values: Partial<InterfaceForm>) =>
    onChange(
      value.map((each, i) => (i === at ? { ...each, ...values } : { ...each, isBoot: values.isBoot ? false : each.isBoot })),
    )
  const addressError = (at: number) =>
    error(`interfaces.${at}.addresses`) ??
    addressesOf(value[at]!)
      .map((_, i) => error(`interfaces.${at}.addresses.${i}.address`) ?? error(`interfaces.${at}.addresses.${i}.network`))
      .find((message) => message !== undefined)
  return (
    <fieldset className="flex flex-col gap-3 sm:col-span-2">
      <legend className="mb-2 text-sm font-medium">{t('node.interfaces')}</legend>
      {error('interfaces') && <p className="text-xs text-bad">{error('interfaces')}</p>}
      {value.map((each, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity while they are edited
        <div key={i} className="grid grid-cols-1 items-start gap-3 rounded-md border border-line p-3 sm:grid-cols-2">
          <TextField
            label={t('node.interfaceName')}
            mono
            value={each.name}
            onChange={(event) => change(i, { name: event.target.value })}
            error={error(`interfaces.${i}.name`)}
          />
          <TextField
            label={t('node.mac')}
            mono
            value={each.mac}
            onChange={(event) => change(i, { mac: event.target.value })}
            error={error(`interfaces.${i}.mac`)}
          />
          <TextField
            label={t('node.interfaceAddresses')}
            mono
            optional
            className="sm:col-span-2"
            value={each.addresses}
            onChange={(event) => change(i, { addresses: event.target.value })}
            hint={t('node.interfaceAddressesHint')}
            error={addressError(i)}
          />
          <CheckField
            label={t('node.bootInterface')}
            checked={each.isBoot}
            onChange={(event) => change(i, { isBoot: event.target.checked })}
          />
          <div className="flex justify-end">
            <Button onClick={() => onChange(value.filter((_, at) => at !== i))}>
              <Trash2 size={14} />
              {t('node.removeInterface')}
            </Button>
          </div>
        </div>
      ))}
      <div>
        <Button onClick={() => onChange([...value, { name: '', mac: '', isBoot: value.length === 0, addresses: '' }])}>
          <Plus size={14} />
          {t('node.addInterface')}
        </Button>
      </div>
    </fieldset>
  )
}

const addressesOf = ({ addresses }: InterfaceForm) =>
  addresses
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((text) => {
      const [address = '', network = ''] = text.split('@')
      return { address, network: network || null }
    })

/** The interfaces as the API takes them. */
export const interfacesInput = (interfaces: InterfaceForm[]) =>
  interfaces.map((each) => ({ name: each.name, mac: each.mac, isBoot: each.isBoot, addresses: addressesOf(each) }))

export const formatAddresses = (addresses: NodeHead['interfaces'][number]['addresses']): string =>
  addresses.map(({ address, network }) => (network ? `${address}@${network}` : address)).join(', ')

export const interfaceForms = (interfaces: NodeHead['interfaces']): InterfaceForm[] =>
  interfaces.map(({ name, mac, isBoot, addresses }) => ({ name, mac, isBoot, addresses: formatAddresses(addresses) }))
