import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const CredentialFragment = graphql(`
  fragment CredentialRow on Credential {
    id name kind description username becomeMethod host port publicKey allowedHosts hostKeyFingerprint hostKeyApprovedAt offeredHostKeyFingerprint
    secretsSet secretStore { id name } secretRefs { field path key } nodeCount lastUsedAt lastResult { isOk error testedAt } createdAt updatedAt
    via { id name }
    rotateBlockedReason
    rotations(first: 1) { edges { node { id status failedCount } } }
  }
`)
export type CredentialRow = ResultOf<typeof CredentialFragment>
export type CredentialKind = CredentialRow['kind']

export const CredentialsQuery = graphql(
  `
  query Credentials($filter: CredentialFilter, $first: Int, $after: String) {
    credentials(filter: $filter, first: $first, after: $after) {
      totalCount
      edges { node { ...CredentialRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [CredentialFragment],
)

export const CreateCredential = graphql(
  `
  mutation CreateCredential($input: CreateCredentialInput!) {
    createCredential(input: $input) {
      __typename
      ... on CreateCredentialPayload { credential { ...CredentialRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [CredentialFragment],
)

export const UpdateCredential = graphql(
  `
  mutation UpdateCredential($input: UpdateCredentialInput!) {
    updateCredential(input: $input) {
      __typename
      ... on UpdateCredentialPayload { credential { ...CredentialRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [CredentialFragment],
)

export const DeleteCredential = graphql(`
  mutation DeleteCredential($id: ID!) {
    deleteCredential(input: { id: $id }) {
      __typename
      ... on DeleteCredentialPayload { deletedId }
      ... on Error { message code }
    }
  }
`)
