import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const RoleDetailsQuery = graphql(`
  query RoleDetails {
    roles { name description isBuiltIn permissions grantBlockedReason updateBlockedReason deleteBlockedReason }
    permissions { name description isPerNode isPerCluster blockedReason roles }
  }
`)
export type RoleDetails = ResultOf<typeof RoleDetailsQuery>['roles'][number]
export type Permission = ResultOf<typeof RoleDetailsQuery>['permissions'][number]

export const CreateRole = graphql(`
  mutation CreateRole($input: CreateRoleInput!) {
    createRole(input: $input) {
      __typename
      ... on CreateRolePayload { role { name description permissions } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const UpdateRole = graphql(`
  mutation UpdateRole($input: UpdateRoleInput!) {
    updateRole(input: $input) {
      __typename
      ... on UpdateRolePayload { role { name description permissions } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const DeleteRole = graphql(`
  mutation DeleteRole($name: String!) {
    deleteRole(input: { name: $name }) {
      __typename
      ... on DeleteRolePayload { deletedName }
      ... on Error { message code }
    }
  }
`)
