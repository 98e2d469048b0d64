import { t } from '@/messages/index.ts'
import { SelectField } from '@/ui/field.tsx'
import { roleLabel, useRoles } from './roles.ts'

/** Field for a role. Roles that the signed-in user may not grant are disabled. */
export function RoleField({
  value,
  onChange,
  hint,
  error,
}: {
  value: string
  onChange: (role: string) => void
  hint?: string
  error?: string | undefined
}) {
  const roles = useRoles()
  return (
    <SelectField
      label={t('tokens.role')}
      value={value}
      hint={hint ?? t('tokens.roleHint')}
      error={error}
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
