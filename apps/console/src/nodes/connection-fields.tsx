import { t } from '@/messages/index.ts'
import { SelectField, TextField } from '@/ui/field.tsx'
import { type Access, AccessFields } from './access-fields.tsx'
import type { NodeHead } from './node-documents.ts'

const connectionTypes = ['SSH', 'LOCAL'] as const

type Connection = Access & { connectionType: NodeHead['connectionType']; port: string; sshUser: string }
type Props<Value> = {
  value: Value
  onChange: (change: Partial<Value>) => void
  error: (path: string) => string | undefined
}

/** Connection type of a node and the settings of that type. */
export function ConnectionFields({ value, onChange, error }: Props<Connection>) {
  return (
    <>
      <SelectField
        label={t('node.connectionType')}
        value={value.connectionType}
        onChange={(event) => onChange({ connectionType: event.target.value as Connection['connectionType'] })}
        hint={t(`connectionTypeHint.${value.connectionType}`)}
      >
        {connectionTypes.map((type) => (
          <option key={type} value={type}>
            {t(`connectionType.${type}`)}
          </option>
        ))}
      </SelectField>
      {value.connectionType === 'SSH' && (
        <div className="grid grid-cols-[88px_1fr] gap-4">
          <TextField
            label={t('node.port')}
            type="number"
            min={1}
            max={65535}
            placeholder="22"
            value={value.port}
            onChange={(event) => onChange({ port: event.target.value })}
            error={error('port')}
          />
          <TextField
            label={t('node.user')}
            mono
            optional
            value={value.sshUser}
            onChange={(event) => onChange({ sshUser: event.target.value })}
            error={error('sshUser')}
            hint={t('node.userHint')}
          />
        </div>
      )}
      <AccessFields
        connectionType={value.connectionType}
        value={value}
        onChange={(key, id) => onChange({ [key]: id } as Partial<Access>)}
        error={error}
      />
    </>
  )
}

/** Region and data center of a node. */
export function PlaceFields({ value, onChange, error }: Props<{ region: string; datacenter: string }>) {
  return (
    <>
      <TextField
        label={t('filter.region')}
        optional
        value={value.region}
        onChange={(event) => onChange({ region: event.target.value })}
        hint={t('node.placeHint')}
        error={error('region')}
      />
      <TextField
        label={t('filter.datacenter')}
        optional
        value={value.datacenter}
        onChange={(event) => onChange({ datacenter: event.target.value })}
        error={error('datacenter')}
      />
    </>
  )
}
