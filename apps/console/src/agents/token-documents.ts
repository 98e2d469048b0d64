import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const EnrollmentTokensQuery = graphql(`
  query EnrollmentTokens($isOver: Boolean, $first: Int, $after: String) {
    agentEnrollmentTokens(isOver: $isOver, first: $first, after: $after) {
      edges {
        node {
          id prefix state note createdAt createdByName expiresAt usedAt usedFrom revokedAt revokedByName revokeBlockedReason
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
      ... on RevokeAgentEnrollmentTokenPayload { agentEnrollmentToken { id state revokedAt revokedByName revokeBlockedReason } }
      ... on Error { message code }
    }
  }
`)
