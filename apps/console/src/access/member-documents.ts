import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const MembersQuery = graphql(`
  query Members($first: Int, $after: String) {
    members(first: $first, after: $after) {
      edges {
        node {
          id role createdAt suspendedAt changeBlockedReason transferBlockedReason hasSecondFactor
          signInMethods { kind }
          user { id name email isServiceAccount }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type Member = ResultOf<typeof MembersQuery>['members']['edges'][number]['node']

export const InvitationsQuery = graphql(`
  query Invitations($first: Int, $after: String) {
    invitations(first: $first, after: $after) {
      edges { node { id email role createdAt expiresAt acceptedAt revokedAt } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type Invitation = ResultOf<typeof InvitationsQuery>['invitations']['edges'][number]['node']

export const InviteMember = graphql(`
  mutation InviteMember($input: InviteMemberInput!) {
    inviteMember(input: $input) {
      __typename
      ... on InviteMemberPayload { link deliveryProblem invitation { id email } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const CreateServiceAccount = graphql(`
  mutation CreateServiceAccount($input: CreateServiceAccountInput!) {
    createServiceAccount(input: $input) {
      __typename
      ... on CreateServiceAccountPayload { member { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RevokeInvitation = graphql(`
  mutation RevokeInvitation($id: ID!) {
    revokeInvitation(input: { id: $id }) {
      __typename
      ... on RevokeInvitationPayload { invitation { id revokedAt } }
      ... on Error { message code }
    }
  }
`)

export const ChangeMemberRole = graphql(`
  mutation ChangeMemberRole($input: ChangeMemberRoleInput!) {
    changeMemberRole(input: $input) {
      __typename
      ... on ChangeMemberRolePayload { member { id role } }
      ... on Error { message code }
    }
  }
`)

export const SuspendMember = graphql(`
  mutation SuspendMember($id: ID!) {
    suspendMember(input: { id: $id }) {
      __typename
      ... on SuspendMemberPayload { member { id suspendedAt } }
      ... on Error { message code }
    }
  }
`)

export const ResumeMember = graphql(`
  mutation ResumeMember($id: ID!) {
    resumeMember(input: { id: $id }) {
      __typename
      ... on ResumeMemberPayload { member { id suspendedAt } }
      ... on Error { message code }
    }
  }
`)

export const RemoveMember = graphql(`
  mutation RemoveMember($id: ID!) {
    removeMember(input: { id: $id }) {
      __typename
      ... on RemoveMemberPayload { deletedId }
      ... on Error { message code }
    }
  }
`)

export const TransferOwnership = graphql(`
  mutation TransferOwnership($id: ID!) {
    transferOwnership(input: { id: $id }) {
      __typename
      ... on TransferOwnershipPayload { member { id role } }
      ... on Error { message code }
    }
  }
`)

export const OpenInvitationQuery = graphql(`
  query OpenInvitation($token: String!) {
    openInvitation(token: $token) { email role tenantName hasAccount }
    viewer { name user { id email } }
  }
`)
export type OpenInvitation = NonNullable<ResultOf<typeof OpenInvitationQuery>['openInvitation']>

export const AcceptInvitation = graphql(`
  mutation AcceptInvitation($input: AcceptInvitationInput!) {
    acceptInvitation(input: $input) {
      __typename
      ... on AcceptInvitationPayload { viewer { name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RequestPasswordReset = graphql(`
  mutation RequestPasswordReset($email: String!) {
    requestPasswordReset(input: { email: $email }) {
      __typename
      ... on RequestPasswordResetPayload { email }
      ... on Error { message code }
    }
  }
`)

export const ResetPassword = graphql(`
  mutation ResetPassword($input: ResetPasswordInput!) {
    resetPassword(input: $input) {
      __typename
      ... on ResetPasswordPayload { wasReset }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const SwitchTenant = graphql(`
  mutation SwitchTenant($tenantId: ID!) {
    switchTenant(input: { tenantId: $tenantId }) {
      __typename
      ... on SwitchTenantPayload { viewer { name } }
      ... on Error { message code }
    }
  }
`)
