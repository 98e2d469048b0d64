import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

const DeliveryFragment = graphql(`
  fragment DeliveryRow on TriggerDelivery {
    id receivedAt outcome message repeatCount address run { id number status statusReason }
  }
`)
export type Delivery = ResultOf<typeof DeliveryFragment>

const TriggerFragment = graphql(
  `
  fragment TriggerRow on Trigger {
    id name description url limit nodesPath signature maxPerHour isEnabled secretCreatedAt
    template { id name displayName } variables { name path isRequired }
    settings {
      extraVars become forks timeoutSeconds serial maxFailPercentage jobTags skipTags checkMode diffMode verbosity drainsSlurmNodes
    }
    owner { name } updateBlockedReason
    deliveries(first: 1) { edges { node { ...DeliveryRow } } }
  }
`,
  [DeliveryFragment],
)
export type Trigger = ResultOf<typeof TriggerFragment>

export const TriggersQuery = graphql(
  `
  query Triggers($first: Int, $after: String) {
    triggers(first: $first, after: $after) {
      totalCount
      edges { node { ...TriggerRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [TriggerFragment],
)

export const TriggersUpdated = graphql(
  `
  subscription TriggersUpdated { triggerUpdated { ...TriggerRow } }
`,
  [TriggerFragment],
)

export const DeliveriesQuery = graphql(
  `
  query TriggerDeliveries($id: ID!, $first: Int, $after: String) {
    node(id: $id) {
      __typename
      ... on Trigger {
        id
        deliveries(first: $first, after: $after) {
          totalCount
          edges { node { ...DeliveryRow } }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
`,
  [DeliveryFragment],
)

export const CreateTrigger = graphql(`
  mutation CreateTrigger($input: CreateTriggerInput!) {
    createTrigger(input: $input) {
      __typename
      ... on CreateTriggerPayload { secret trigger { id name url } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type CreateInput = VariablesOf<typeof CreateTrigger>['input']

export const UpdateTrigger = graphql(`
  mutation UpdateTrigger($input: UpdateTriggerInput!) {
    updateTrigger(input: $input) {
      __typename
      ... on UpdateTriggerPayload { trigger { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RotateTriggerSecret = graphql(`
  mutation RotateTriggerSecret($input: RotateTriggerSecretInput!) {
    rotateTriggerSecret(input: $input) {
      __typename
      ... on RotateTriggerSecretPayload { secret trigger { id name url } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const DeleteTrigger = graphql(`
  mutation DeleteTrigger($input: DeleteTriggerInput!) {
    deleteTrigger(input: $input) {
      __typename
      ... on DeleteTriggerPayload { deletedId }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
