import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const TenantsQuery = graphql(`
  query Tenants($first: Int, $after: String) {
    tenants(first: $first, after: $after) {
      edges { node { id name createdAt maxConcurrentRuns suspendedAt suspendedBy { name } suspendBlockedReason } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type Tenant = ResultOf<typeof TenantsQuery>['tenants']['edges'][number]['node']

export const CreateTenant = graphql(`
  mutation CreateTenant($input: CreateTenantInput!) {
    createTenant(input: $input) {
      __typename
      ... on CreateTenantPayload { tenant { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const UpdateTenant = graphql(`
  mutation UpdateTenant($input: UpdateTenantInput!) {
    updateTenant(input: $input) {
      __typename
      ... on UpdateTenantPayload { tenant { id name maxConcurrentRuns } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const SuspendTenant = graphql(`
  mutation SuspendTenant($id: ID!) {
    suspendTenant(input: { id: $id }) {
      __typename
      ... on SuspendTenantPayload { tenant { id suspendedAt suspendBlockedReason } }
      ... on Error { message code }
    }
  }
`)

export const ResumeTenant = graphql(`
  mutation ResumeTenant($id: ID!) {
    resumeTenant(input: { id: $id }) {
      __typename
      ... on ResumeTenantPayload { tenant { id suspendedAt suspendBlockedReason } }
      ... on Error { message code }
    }
  }
`)
