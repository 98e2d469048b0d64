import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const ClusterFragment = graphql(`
  fragment SlurmClusterRow on SlurmCluster {
    id name kind region state clusterName version
    refreshedAt failingSince failureCount lastError nextRefreshAt isRefreshing
    updateBlockedReason refreshBlockedReason
    programFolder reuseConfig reuseMungeKey reuseDatabase maxNodes saltEauth saltCaCertificate saltInstalls saltCredential { id name }
    slurmrestdSocket slurmrestdCaCertificate slurmrestdCredential { id name host port } slurmrestdProblem
    controllers { role hostname isUp }
    controllerNode { id name host port }
    backupNode { id name }
    totals {
      nodes cpus allocatedCpus gpus allocatedGpus
      nodesByState { state nodes nodeList }
      jobsByState { state jobs }
    }
  }
`)
export type ClusterRow = ResultOf<typeof ClusterFragment>

export const ClustersQuery = graphql(
  `
  query SlurmClusters($filter: SlurmClusterFilter, $first: Int, $after: String) {
    slurmClusters(filter: $filter, first: $first, after: $after) {
      totalCount
      edges { node { ...SlurmClusterRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [ClusterFragment],
)

/** Without `id`: changes of all clusters. */
export const ClusterUpdated = graphql(
  `
  subscription SlurmClusterUpdated($id: ID) {
    slurmClusterUpdated(id: $id) { ...SlurmClusterRow }
  }
`,
  [ClusterFragment],
)

export const AddCluster = graphql(
  `
  mutation AddSlurmCluster($input: AddSlurmClusterInput!) {
    addSlurmCluster(input: $input) {
      __typename
      ... on AddSlurmClusterPayload { slurmCluster { ...SlurmClusterRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [ClusterFragment],
)
export type AddClusterInput = VariablesOf<typeof AddCluster>['input']

export const UpdateCluster = graphql(
  `
  mutation UpdateSlurmCluster($input: UpdateSlurmClusterInput!) {
    updateSlurmCluster(input: $input) {
      __typename
      ... on UpdateSlurmClusterPayload { slurmCluster { ...SlurmClusterRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [ClusterFragment],
)

export const RemoveCluster = graphql(`
  mutation RemoveSlurmCluster($id: ID!) {
    removeSlurmCluster(input: { id: $id }) {
      __typename
      ... on RemoveSlurmClusterPayload { deletedId }
      ... on Error { message code }
    }
  }
`)

export const RefreshCluster = graphql(
  `
  mutation RefreshSlurmCluster($id: ID!) {
    refreshSlurmCluster(input: { id: $id }) {
      __typename
      ... on RefreshSlurmClusterPayload { slurmCluster { ...SlurmClusterRow } }
      ... on Error { message code }
    }
  }
`,
  [ClusterFragment],
)

export const ClusterTestFragment = graphql(`
  fragment SlurmClusterTestResult on SlurmClusterTest {
    id isOk error finishedAt
    queries { query command state exitCode durationMs detail hint }
    preview { clusterName version controllers { role hostname isUp } nodes cpus gpus jobs partitions }
  }
`)
export type ClusterTest = ResultOf<typeof ClusterTestFragment>
export type CommandReport = ClusterTest['queries'][number]

export const TestController = graphql(
  `
  mutation TestSlurmController($input: TestSlurmControllerInput!) {
    testSlurmController(input: $input) {
      __typename
      ... on TestSlurmControllerPayload { slurmClusterTest { ...SlurmClusterTestResult } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [ClusterTestFragment],
)

export type TestControllerInput = VariablesOf<typeof TestController>['input']

export const ClusterTestUpdated = graphql(
  `
  subscription SlurmClusterTestUpdated($id: ID!) {
    slurmClusterTestUpdated(id: $id) { ...SlurmClusterTestResult }
  }
`,
  [ClusterTestFragment],
)

/** Nodes with this name or address, and others that contain the text. */
export const NodesByText = graphql(`
  query SlurmNodesByText($text: String!) {
    nodes(filter: { text: $text }, first: 50) { edges { node { id name host port status } } }
  }
`)
