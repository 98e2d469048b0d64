import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const SessionsQuery = graphql(`
  query Sessions($first: Int, $after: String) {
    sessions(first: $first, after: $after) {
      edges { node { id isCurrent device address createdAt lastUsedAt } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type Session = ResultOf<typeof SessionsQuery>['sessions']['edges'][number]['node']

export const EndSession = graphql(`
  mutation EndSession($id: ID!) {
    endSession(input: { id: $id }) {
      __typename
      ... on EndSessionPayload { endedId }
      ... on Error { message code }
    }
  }
`)

export const EndOtherSessions = graphql(`
  mutation EndOtherSessions {
    endOtherSessions {
      __typename
      ... on EndOtherSessionsPayload { endedCount }
      ... on Error { message code }
    }
  }
`)
