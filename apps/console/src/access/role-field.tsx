import { t } from '@/messages/index.ts'
import { SelectField } from '@/ui/field.tsx'
import { type Role, useRoles } from './roles.ts'

/** Field for a role. Roles that the signed-in user may not give are disabled. */
export function RoleField({ value, onChange }: { value: Role['role']; onChange: (role: Role['role']) => void }) {
  const roles = useRoles()
  return (
    <SelectField
      label={t('tokens.role')}
      value={value}
      hint={t('tokens.roleHint')}
      onChange={(event) => onChange(event.target.value as Role['role'])}
    >
      {roles.map(({ role, grantBlockedReason }) => (
        <option key={role} value={role} disabled={grantBlockedReason !== null} title={grantBlockedReason ?? undefined}>
          {t(`role.${role}`)}
        </option>
      ))}
    </SelectField>
  )
}
