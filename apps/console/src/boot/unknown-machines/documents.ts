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

export const BootRulesQuery = graphql(`
  query BootRules($first: Int, $after: String) {
    bootRules(first: $first, after: $after) {
      totalCount
      edges {
        node {
          id name priority isEnabled macPrefixes interfaceMacPrefixes serials systemUuids arch names group { id name } profile { id name }
          maxAccepted accepted lastAcceptedAt problem updateBlockedReason
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type Rule = ResultOf<typeof BootRulesQuery>['bootRules']['edges'][number]['node']

export const CreateBootRule = graphql(`
  mutation CreateBootRule($input: CreateBootRuleInput!) {
    createBootRule(input: $input) {
      __typename
      ... on CreateBootRulePayload { bootRule { id } }
      ... on Error { message code }
      ... on InvalidInputError { issues { path message } }
    }
  }
`)

export const UpdateBootRule = graphql(`
  mutation UpdateBootRule($input: UpdateBootRuleInput!) {
    updateBootRule(input: $input) {
      __typename
      ... on UpdateBootRulePayload {
        bootRule { id priority isEnabled macPrefixes interfaceMacPrefixes serials systemUuids arch names group { id name } profile { id name } maxAccepted problem }
      }
      ... on Error { message code }
      ... on InvalidInputError { issues { path message } }
    }
  }
`)

export const DeleteBootRule = graphql(`
  mutation DeleteBootRule($id: ID!) {
    deleteBootRule(input: { id: $id }) {
      __typename
      ... on DeleteBootRulePayload { deletedId }
      ... on Error { message code }
    }
  }
`)
