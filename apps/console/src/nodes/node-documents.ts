import { graphql, type ResultOf } from '@/graphql/graphql.ts'
import { DiscoveryRowFragment, NodeRowFragment } from './documents.ts'

export const NodeHeadFragment = graphql(
  `
  fragment NodeHead on ComputeNode {
    ...NodeRow
    connectionType sshUser region datacenter rack rackPosition xname xnameRejections nid managementIp interfaces { name mac isBoot addresses { address network } } labels { key value } notes hostKeyFingerprint hostKeyApprovedAt kernel
    maintenanceStartedAt maintenanceEndsAt maintenanceStartedByName
    bootId bootedAt discoveredAt createdAt updateBlockedReason purgeBlockedReason
    credential { id name kind }
    becomeCredential { id name }
    bastion { id name host port }
    groups { id name displayName }
    slurmNodes { id name state reason cluster { id name } }
  }
`,
  [NodeRowFragment],
)
export type NodeHead = ResultOf<typeof NodeHeadFragment>

export const AcceleratorFragment = graphql(`
  fragment AcceleratorLine on Accelerator {
    id deviceType vendor model index uuid serial pciAddress memoryTotalBytes memoryUsedBytes driverVersion firmwareVersion toolkitVersion
    computeCapability numaNode interconnect isEccEnabled
    eccErrors { correctedVolatile uncorrectedVolatile correctedAggregate uncorrectedAggregate }
    temperatureCelsius powerWatts utilizationPercent health healthReason source lastSeenAt
    partitions { kind index uuid profile memoryTotalBytes parentUuid }
  }
`)
export type AcceleratorLine = ResultOf<typeof AcceleratorFragment>

export const NodeQuery = graphql(
  `
  query NodePage($id: ID!) {
    node(id: $id) {
      __typename
      ... on ComputeNode {
        ...NodeHead
        accelerators { ...AcceleratorLine }
        latestDiscovery { ...DiscoveryRow }
      }
    }
  }
`,
  [NodeHeadFragment, AcceleratorFragment, DiscoveryRowFragment],
)
export type NodePageData = Extract<NonNullable<ResultOf<typeof NodeQuery>['node']>, { __typename: 'ComputeNode' }>

export const NodeFactsQuery = graphql(`
  query NodeFacts($id: ID!) {
    node(id: $id) { __typename ... on ComputeNode { id facts latestDiscovery { id evidence } } }
  }
`)

export const NodeDiscoveriesQuery = graphql(
  `
  query NodeDiscoveries($id: ID!, $first: Int, $after: String) {
    node(id: $id) {
      __typename
      ... on ComputeNode {
        id
        discoveries(first: $first, after: $after) {
          edges { node { ...DiscoveryRow } }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
`,
  [DiscoveryRowFragment],
)

export const LatestDiscoveryQuery = graphql(`
  query LatestDiscovery($name: String!) {
    computeNode(name: $name) { id name latestDiscovery { id status } }
  }
`)

export const NodeNamesQuery = graphql(`
  query NodeNames($text: String!) {
    nodes(filter: { text: $text }, first: 12) { edges { node { id name } } }
  }
`)

export const DiscoveryDiffQuery = graphql(`
  query DiscoveryDiff($before: ID!, $after: ID!) {
    discoveryDiff(fromId: $before, toId: $after) { path label kind before after }
  }
`)

export const NodeRunsQuery = graphql(`
  query NodeRuns($id: ID!, $first: Int, $after: String) {
    node(id: $id) {
      __typename
      ... on ComputeNode {
        id
        runs(first: $first, after: $after) {
          edges {
            node {
              id number templateName status statusReason limit checkMode createdBy { name } createdAt startedAt finishedAt durationMs
              hostCounts { total ok failed unreachable offline } cancelBlockedReason
              template { id displayName }
            }
          }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
`)

export const OneNodeUpdated = graphql(
  `
  subscription OneNodeUpdated($id: ID!) { nodeUpdated(id: $id) { ...NodeHead } }
`,
  [NodeHeadFragment],
)

export const UpdateNode = graphql(
  `
  mutation UpdateNode($input: UpdateNodeInput!) {
    updateNode(input: $input) {
      __typename
      ... on UpdateNodePayload { node { ...NodeHead } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [NodeHeadFragment],
)

export const DecommissionNode = graphql(
  `
  mutation DecommissionNode($id: ID!) {
    decommissionNode(input: { id: $id }) {
      __typename
      ... on DecommissionNodePayload { node { ...NodeHead } }
      ... on Error { message code }
    }
  }
`,
  [NodeHeadFragment],
)

export const RecommissionNode = graphql(
  `
  mutation RecommissionNode($id: ID!) {
    recommissionNode(input: { id: $id }) {
      __typename
      ... on RecommissionNodePayload { node { ...NodeHead } }
      ... on Error { message code }
    }
  }
`,
  [NodeHeadFragment],
)

export const PurgeNode = graphql(`
  mutation PurgeNode($id: ID!) {
    purgeNode(input: { id: $id }) {
      __typename
      ... on PurgeNodePayload { deletedId }
      ... on Error { message code }
    }
  }
`)
