import { graphql, type ResultOf } from '@/graphql/graphql.ts'

const SecretStoreItem = graphql(`
  fragment SecretStoreItem on SecretStore @_unmask {
    id name kind address namespace mount region auth roleId accessKeyId
    credentials(first: 100) { edges { node { id name } } }
  }
`)

export const SecretStoresQuery = graphql(
  `
  query SecretStores($first: Int, $after: String) {
    secretStores(first: $first, after: $after) {
      edges { node { ...SecretStoreItem } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [SecretStoreItem],
)
export type SecretStore = ResultOf<typeof SecretStoresQuery>['secretStores']['edges'][number]['node']

export const SecretStoreNames = graphql(`
  query SecretStoreNames($first: Int) {
    secretStores(first: $first) { edges { node { id name } } }
  }
`)

export const CreateSecretStore = graphql(`
  mutation CreateSecretStore($input: CreateSecretStoreInput!) {
    createSecretStore(input: $input) {
      __typename
      ... on CreateSecretStorePayload { secretStore { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const UpdateSecretStore = graphql(
  `
  mutation UpdateSecretStore($input: UpdateSecretStoreInput!) {
    updateSecretStore(input: $input) {
      __typename
      ... on UpdateSecretStorePayload { secretStore { ...SecretStoreItem } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [SecretStoreItem],
)

export const DeleteSecretStore = graphql(`
  mutation DeleteSecretStore($id: ID!) {
    deleteSecretStore(input: { id: $id }) {
      __typename
      ... on DeleteSecretStorePayload { deletedId }
      ... on Error { message code }
    }
  }
`)
