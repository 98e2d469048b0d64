import { t } from '@/messages/index.ts'
import { SelectField } from '@/ui/field.tsx'
import { roleLabel, useRoles } from './roles.ts'

/** Field for a role. Roles that the signed-in user may not grant are disabled. */
export function RoleField({ value, onChange }: { value: string; onChange: (role: string) => void }) {
  const roles = useRoles()
  return (
    <SelectField
      label={t('tokens.role')}
      value={value}
      hint={t('tokens.roleHint')}
      onChange={(event) => onChange(event.target.value)}
    >
      {roles.map(({ name, grantBlockedReason }) => (
        <option key={name} value={name} disabled={grantBlockedReason !== null} title={grantBlockedReason ?? undefined}>
          {roleLabel(name)}
        </option>
      ))}
    </SelectField>
  )
}
