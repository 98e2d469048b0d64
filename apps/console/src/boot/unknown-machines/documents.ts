import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const UnknownMachinesQuery = graphql(`
  query UnknownMachines($filter: UnknownMachineFilter, $first: Int, $after: String) {
    unknownMachines(filter: $filter, first: $first, after: $after) {
      totalCount
      edges {
        node {
          id mac state arch serial systemUuid interfaces { name mac } seenFrom requests firstSeenAt lastSeenAt
          node { id name } rejectedReason acceptBlockedReason rejectBlockedReason
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type Machine = ResultOf<typeof UnknownMachinesQuery>['unknownMachines']['edges'][number]['node']

export const AcceptUnknownMachine = graphql(`
  mutation AcceptMachine($input: AcceptUnknownMachineInput!) {
    acceptUnknownMachine(input: $input) {
      __typename
      ... on AcceptUnknownMachinePayload {
        unknownMachine { id state node { id name } acceptBlockedReason rejectBlockedReason }
      }
      ... on Error { message code }
      ... on InvalidInputError { issues { path message } }
    }
  }
`)

export const RejectUnknownMachine = graphql(`
  mutation RejectMachine($id: ID!, $reason: String) {
    rejectUnknownMachine(input: { id: $id, reason: $reason }) {
      __typename
      ... on RejectUnknownMachinePayload {
        unknownMachine { id state rejectedReason acceptBlockedReason rejectBlockedReason }
      }
      ... on Error { message code }
    }
  }
`)

export const NodeByNameQuery = graphql(`
  query NodeByName($name: String!) { computeNode(name: $name) { id name } }
`)
