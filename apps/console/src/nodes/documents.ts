import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const NodeRowFragment = graphql(`
  fragment NodeRow on ComputeNode {
    id name displayName host port status statusReason health { status reason } nodeType tags os { distribution name version } arch cpu { model sockets cores threads } memoryBytes lastSeenAt
    acceleratorSummary { deviceType model count worstHealth memoryTotalBytes }
    agent { agentId state offlineSuppressedAt }
    hostKeyAlarm { offeredFingerprint approvedFingerprint offeredAt isChanged }
  }
`)
export type NodeRow = ResultOf<typeof NodeRowFragment>

export const NodesQuery = graphql(
  `
  query Nodes($filter: NodeFilter, $orderBy: NodeOrder, $first: Int, $after: String) {
    nodes(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
      totalCount
      edges { cursor node { ...NodeRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [NodeRowFragment],
)

export const NodeIdsQuery = graphql(`
  query NodeIds($filter: NodeFilter, $first: Int, $after: String) {
    nodes(filter: $filter, first: $first, after: $after) {
      edges { node { id } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

export const NodeTagsQuery = graphql(`
  query NodeTags($id: ID!) { node(id: $id) { __typename ... on ComputeNode { id name tags } } }
`)

export const NodeFacetsQuery = graphql(`
  query NodeFacets {
    nodeFacets {
      tags { value count }
      statuses { value count }
      healthStatuses { value count }
      oses { value count }
      arches { value count }
      deviceTypes { value count }
      models { value count }
      groups { value count }
      agentStates { value count }
      clusters { value count }
      regions { value count }
      datacenters { value count }
      racks { value count }
    }
  }
`)
export type NodeFacets = ResultOf<typeof NodeFacetsQuery>['nodeFacets']

export const NodeUpdated = graphql(
  `
  subscription NodeUpdated { nodeUpdated { ...NodeRow } }
`,
  [NodeRowFragment],
)

export const PreflightFragment = graphql(`
  fragment Preflight on ConnectionTest {
    id isOk error createdAt startedAt finishedAt
    node { id name host port status health { status reason } }
    stages { stage hop state durationMs detail hint offeredKey { objectId fingerprint key isChanged } }
  }
`)
export type Preflight = ResultOf<typeof PreflightFragment>

export const TestConnections = graphql(
  `
  mutation TestConnections($nodeIds: [ID!]!) {
    testConnections(input: { nodeIds: $nodeIds }) {
      __typename
      ... on TestConnectionsPayload { connectionTests { ...Preflight } }
      ... on Error { message code }
    }
  }
`,
  [PreflightFragment],
)

export const ConnectionTestUpdated = graphql(
  `
  subscription ConnectionTestUpdated($ids: [ID!]!) { connectionTestUpdated(ids: $ids) { ...Preflight } }
`,
  [PreflightFragment],
)

export const ApproveHostKeys = graphql(`
  mutation ApproveHostKeys($approvals: [HostKeyApprovalInput!]!) {
    approveHostKeys(input: { approvals: $approvals }) {
      __typename
      ... on ApproveHostKeysPayload {
        nodes { id status statusReason hostKeyFingerprint hostKeyApprovedAt hostKeyAlarm { offeredFingerprint approvedFingerprint offeredAt isChanged } }
        credentials { id hostKeyFingerprint hostKeyApprovedAt offeredHostKeyFingerprint }
      }
      ... on Error { message code }
    }
  }
`)

export const WaitingNodesQuery = graphql(`
  query SetupNotice {
    fresh: nodes(filter: { status: [NEW] }, first: 500) { edges { node { id } } }
    alarmed: nodes(filter: { hasHostKeyAlarm: true }, first: 500) { edges { node { id } } }
    unreachable: nodes(filter: { status: [UNREACHABLE] }, first: 500) {
      edges { node { id bastion { id offeredHostKeyFingerprint via { id offeredHostKeyFingerprint } } } }
    }
  }
`)

export const DiscoveryRowFragment = graphql(`
  fragment DiscoveryRow on Discovery {
    id reason status error durationMs createdAt startedAt finishedAt acceleratorCount warnings
    tools { tool state reason version durationMs deviceCount }
  }
`)
export type DiscoveryRow = ResultOf<typeof DiscoveryRowFragment>

export const DiscoverNodes = graphql(
  `
  mutation DiscoverNodes($nodeIds: [ID!]) {
    discoverNodes(input: { nodeIds: $nodeIds }) {
      __typename
      ... on DiscoverNodesPayload { discoveries { ...DiscoveryRow node { id name } } }
      ... on Error { message code }
    }
  }
`,
  [DiscoveryRowFragment],
)

export const DiscoveryUpdated = graphql(
  `
  subscription DiscoveryUpdated($ids: [ID!]!) {
    discoveryUpdated(ids: $ids) { ...DiscoveryRow node { ...NodeRow } }
  }
`,
  [DiscoveryRowFragment, NodeRowFragment],
)
export type DiscoveryUpdate = ResultOf<typeof DiscoveryUpdated>['discoveryUpdated']
