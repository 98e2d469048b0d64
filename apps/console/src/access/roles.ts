import { useQuery } from 'urql'
import { graphql, type ResultOf } from '@/graphql/graphql.ts'

const RolesQuery = graphql(`query Roles { builtInRoles { role grantBlockedReason } }`)
export type Role = ResultOf<typeof RolesQuery>['builtInRoles'][number]

/** Roles from weakest to strongest, each with the reason why the signed-in user may not give it; empty while loading. */
export function useRoles(): Role[] {
  const [{ data }] = useQuery({ query: RolesQuery })
  return data?.builtInRoles ?? []
}
