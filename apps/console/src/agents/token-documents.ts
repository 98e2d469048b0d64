import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const EnrolmentTokensQuery = graphql(`
  query EnrolmentTokens($isOver: Boolean, $first: Int, $after: String) {
    agentEnrolmentTokens(isOver: $isOver, first: $first, after: $after) {
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
export type EnrolmentToken = ResultOf<typeof EnrolmentTokensQuery>['agentEnrolmentTokens']['edges'][number]['node']

export const RevokeEnrolmentToken = graphql(`
  mutation RevokeEnrolmentToken($id: ID!) {
    revokeAgentEnrolmentToken(id: $id) {
      __typename
      ... on AgentEnrolmentToken { id state revokedAt revokedByName revokeBlockedReason }
      ... on Error { message code }
    }
  }
`)
