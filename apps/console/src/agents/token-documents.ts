import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const EnrollmentTokensQuery = graphql(`
  query EnrollmentTokens($includeEnded: Boolean, $first: Int, $after: String) {
    agentEnrollmentTokens(includeEnded: $includeEnded, first: $first, after: $after) {
      edges {
        node {
          id prefix state note createdAt createdBy { name } expiresAt usedAt usedFrom revokedAt revokedBy { name } revokeBlockedReason
          node { id name }
          usedByNode { id name }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type EnrollmentToken = ResultOf<typeof EnrollmentTokensQuery>['agentEnrollmentTokens']['edges'][number]['node']

export const RevokeEnrollmentToken = graphql(`
  mutation RevokeEnrollmentToken($id: ID!) {
    revokeAgentEnrollmentToken(input: { id: $id }) {
      __typename
      ... on RevokeAgentEnrollmentTokenPayload { agentEnrollmentToken { id state revokedAt revokedBy { name } revokeBlockedReason } }
      ... on Error { message code }
    }
  }
`)
