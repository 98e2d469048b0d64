import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const ApiTokensQuery = graphql(`
  query ApiTokens($first: Int, $after: String) {
    apiTokens(first: $first, after: $after) {
      edges { node { id name role permissions isLimitedToGroups nodeGroups { id name } networks prefix createdAt lastUsedAt expiresAt revokedAt revokeBlockedReason owner { id name } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type ApiToken = ResultOf<typeof ApiTokensQuery>['apiTokens']['edges'][number]['node']

export const CreateApiToken = graphql(`
  mutation CreateApiToken($input: CreateApiTokenInput!) {
    createApiToken(input: $input) {
      __typename
      ... on CreateApiTokenPayload { secret apiToken { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RevokeApiToken = graphql(`
  mutation RevokeApiToken($id: ID!) {
    revokeApiToken(input: { id: $id }) {
      __typename
      ... on RevokeApiTokenPayload { apiToken { id revokedAt } }
      ... on Error { message code }
    }
  }
`)
