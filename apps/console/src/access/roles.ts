import { useQuery } from 'urql'
import { graphql, type ResultOf } from '@/graphql/graphql.ts'
import { t } from '@/messages/index.ts'

const RolesQuery = graphql(`query Roles { roles { name grantBlockedReason } }`)
export type Role = ResultOf<typeof RolesQuery>['roles'][number]

/** The built-in and custom roles, each with the reason why the signed-in user may not grant it; empty while loading. */
export function useRoles(): Role[] {
  const [{ data }] = useQuery({ query: RolesQuery })
  return data?.roles ?? []
}

/** Label of a role. Custom roles are not translated. */
export function roleLabel(name: string): string {
  const key = `role.${name}` as 'role.viewer'
  return t.has(key) ? t(key) : name
}
