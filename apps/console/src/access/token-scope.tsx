import { useQuery } from 'urql'
import { issuesWithin, type Problem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { ChoiceField } from '@/ui/choice-field.tsx'
import { CheckField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { useNodeGroupChoices } from './grants/choices.ts'
import { PermissionList } from './roles/permission-list.tsx'
import { RoleDetailsQuery } from './roles/role-documents.ts'

/** What a token is limited to. Null: all permissions of its role; the whole tenant. */
export type Scope = { permissions: string[] | null; nodeGroupIds: string[] | null }

/** Why a token with this scope cannot be created yet. The API reads an empty list of groups as the whole tenant. */
export function scopeBlockedReason({ permissions, nodeGroupIds }: Scope): string | null {
  if (permissions?.length === 0) return t('tokens.needPermission')
  if (nodeGroupIds?.length === 0) return t('tokens.needGroup')
  return null
}

/** Limits a token to some permissions of its role and to node groups. */
export function TokenScope({
  role,
  scope,
  problem,
  onChange,
}: {
  role: string
  scope: Scope
  problem: Problem | null
  onChange: (scope: Scope) => void
}) {
  const [{ data }] = useQuery({ query: RoleDetailsQuery })
  const included = new Set(data?.roles.find(({ name }) => name === role)?.permissions)
  const permissions = data?.permissions.filter(({ name }) => included.has(name)) ?? []
  const issues = issuesWithin(problem, 'permissions')
  return (
    <>
      <CheckField
        label={t('tokens.limitPermissions')}
        hint={t('tokens.limitPermissionsHint')}
        checked={scope.permissions !== null}
        onChange={({ target }) => onChange({ ...scope, permissions: target.checked ? [] : null })}
      />
      {scope.permissions && (
        <>
          {issues && <Notice tone="bad">{issues}</Notice>}
          <PermissionList
            permissions={permissions}
            selection={{
              selected: new Set(scope.permissions),
              onChange: (selected) => onChange({ ...scope, permissions: [...selected] }),
            }}
          />
        </>
      )}
      <CheckField
        label={t('tokens.limitGroups')}
        hint={t('tokens.limitGroupsHint')}
        checked={scope.nodeGroupIds !== null}
        onChange={({ target }) => onChange({ ...scope, nodeGroupIds: target.checked ? [] : null })}
      />
      {scope.nodeGroupIds && (
        <GroupField
          value={scope.nodeGroupIds}
          error={issuesWithin(problem, 'nodeGroupIds')}
          onChange={(nodeGroupIds) => onChange({ ...scope, nodeGroupIds })}
        />
      )}
    </>
  )
}

function GroupField({
  value,
  error,
  onChange,
}: {
  value: string[]
  error: string | undefined
  onChange: (ids: string[]) => void
}) {
  const { choices, problem } = useNodeGroupChoices()
  return (
    <ChoiceField
      label={t('tokens.nodeGroups')}
      choices={choices}
      value={value}
      error={problem?.message ?? error}
      onChange={onChange}
    />
  )
}
