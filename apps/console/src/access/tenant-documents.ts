import { graphql, type ResultOf } from '@/graphql/graphql.ts'

const TenantItem = graphql(`
  fragment TenantItem on Tenant @_unmask {
    id name createdAt maxConcurrentRuns maxNodes nodeCount memberCount activeRunCount
    suspendedAt suspendedBy { name } suspendBlockedReason deletedAt deletedBy { name } deleteBlockedReason
  }
`)

export const TenantsQuery = graphql(
  `
  query Tenants($first: Int, $after: String) {
    tenants(first: $first, after: $after) {
      edges { node { ...TenantItem } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [TenantItem],
)
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
      ... on UpdateTenantPayload { tenant { id name maxConcurrentRuns maxNodes } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const SuspendTenant = graphql(
  `
  mutation SuspendTenant($id: ID!) {
    suspendTenant(input: { id: $id }) {
      __typename
      ... on SuspendTenantPayload { tenant { ...TenantItem } }
      ... on Error { message code }
    }
  }
`,
  [TenantItem],
)

export const ResumeTenant = graphql(
  `
  mutation ResumeTenant($id: ID!) {
    resumeTenant(input: { id: $id }) {
      __typename
      ... on ResumeTenantPayload { tenant { ...TenantItem } }
      ... on Error { message code }
    }
  }
`,
  [TenantItem],
)

export const DeleteTenant = graphql(
  `
  mutation DeleteTenant($id: ID!) {
    deleteTenant(input: { id: $id }) {
      __typename
      ... on DeleteTenantPayload { tenant { ...TenantItem } }
      ... on Error { message code }
    }
  }
`,
  [TenantItem],
)

export const InstallationAdminsQuery = graphql(`
  query InstallationAdmins($first: Int, $after: String) {
    installationAdmins(first: $first, after: $after) {
      edges { node { id name email } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type InstallationAdmin = ResultOf<typeof InstallationAdminsQuery>['installationAdmins']['edges'][number]['node']

export const AppointInstallationAdmin = graphql(`
  mutation AppointInstallationAdmin($email: String!) {
    appointInstallationAdmin(input: { email: $email }) {
      __typename
      ... on AppointInstallationAdminPayload { user { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const DismissInstallationAdmin = graphql(`
  mutation DismissInstallationAdmin($userId: ID!) {
    dismissInstallationAdmin(input: { userId: $userId }) {
      __typename
      ... on DismissInstallationAdminPayload { user { id } }
      ... on Error { message code }
    }
  }
`)
