import { t } from '@/messages/index.ts'
import { TextField } from '@/ui/field.tsx'

export const noLocation = { rack: '', rackPosition: '', xname: '', nid: '', managementIp: '' }
type Location = typeof noLocation
type Props = {
  value: Location
  onChange: (values: Partial<Location>) => void
  error: (path: string) => string | undefined
}

/** Rack, xname, NID and management IP of a node. */
export function LocationFields({ value, onChange, error }: Props) {
  const field = (key: keyof Location) => ({
    optional: true,
    value: value[key],
    onChange: (event: { target: { value: string } }) => onChange({ [key]: event.target.value }),
    error: error(key),
  })
  return (
    <>
      <TextField label={t('filter.rack')} {...field('rack')} />
      <TextField label={t('node.rackPosition')} {...field('rackPosition')} />
      <TextField label={t('node.xname')} mono hint={t('node.xnameHint')} {...field('xname')} />
      <TextField label={t('node.nid')} mono inputMode="numeric" hint={t('node.nidHint')} {...field('nid')} />
      <TextField label={t('node.managementIp')} mono {...field('managementIp')} />
    </>
  )
}

/** The fields as the API takes them. */
export const locationInput = ({ nid, ...texts }: Location) => ({
  rack: texts.rack || null,
  rackPosition: texts.rackPosition || null,
  xname: texts.xname.trim() || null,
  nid: nid.trim() ? Number(nid) : null,
  managementIp: texts.managementIp.trim() || null,
})
