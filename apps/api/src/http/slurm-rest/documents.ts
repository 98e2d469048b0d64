const ERRORS = '... on Error { code message } ... on InvalidInputError { issues { path message } }'
const PAGE = 'totalCount pageInfo { hasNextPage endCursor }'

const CLUSTER = `id name kind state region clusterName originalClusterName version controllers { hostname role isUp }
  controllerNode { id name } backupNode { id name } programFolder reuseConfig reuseMungeKey reuseDatabase maxNodes
  discoveredAt refreshedAt isRefreshing failingSince lastError nextRefreshAt
  totals { nodes cpus allocatedCpus gpus allocatedGpus jobs }`
const TEST_FIELDS = `id node { id name } programFolder isOk error createdAt startedAt finishedAt
  queries { query command state exitCode durationMs detail hint }
  preview { clusterName version controllers { hostname role isUp } nodes cpus gpus jobs partitions }`
const OPERATION_FIELDS = `id cluster { id name } kind status reason error configNumber nodeCount problemCount
  steps { name state message startedAt finishedAt } createdAt startedAt finishedAt`
const READINESS_FIELDS = `id cluster { id name } nodes { nodeId name isReady checks { name state message } } error
  createdAt startedAt finishedAt`

export const LIST = `query RestSlurmClusters($first: Int, $after: String) {
  result: slurmClusters(first: $first, after: $after) { ${PAGE} edges { node { ${CLUSTER} } } }
}`

export const INFO = `query RestSlurmClusterInfo($id: ID!) {
  result: slurmCluster(id: $id) {
    ${CLUSTER}
    states: totals { nodesByState { state nodes nodeList } jobsByState { state jobs } }
    queries { query command state exitCode durationMs detail hint }
  }
}`

export const NODES = `query RestSlurmNodes($id: ID!, $first: Int, $after: String) {
  result: slurmCluster(id: $id) {
    nodes(first: $first, after: $after) {
      ${PAGE}
      edges { node {
        id name address state states partitions reason cpus allocatedCpus memoryMiB gpus allocatedGpus node { id name }
      } }
    }
  }
}`

export const CONNECT = `mutation RestAddSlurmCluster($input: AddSlurmClusterInput!) {
  result: addSlurmCluster(input: $input) { ... on AddSlurmClusterPayload { slurmCluster { ${CLUSTER} } } ${ERRORS} }
}`

export const REFRESH = `mutation RestRefreshSlurmCluster($id: ID!) {
  result: refreshSlurmCluster(input: { id: $id }) {
    ... on RefreshSlurmClusterPayload { slurmCluster { ${CLUSTER} } } ${ERRORS}
  }
}`

export const REMOVE = `mutation RestRemoveSlurmCluster($id: ID!) {
  result: removeSlurmCluster(input: { id: $id }) { ... on RemoveSlurmClusterPayload { deletedId } ${ERRORS} }
}`

export const TEST = `mutation RestTestSlurmController($input: TestSlurmControllerInput!) {
  result: testSlurmController(input: $input) {
    ... on TestSlurmControllerPayload { slurmClusterTest { ${TEST_FIELDS} } } ${ERRORS}
  }
}`

export const TEST_RESULT = `query RestSlurmClusterTest($id: ID!) {
  result: node(id: $id) { ... on SlurmClusterTest { ${TEST_FIELDS} } }
}`

export const CHECK_NODES = `query RestPreviewSlurmScaleOut($input: PreviewSlurmScaleOutInput!) {
  result: previewSlurmScaleOut(input: $input) {
    ... on SlurmScaleOutPreview {
      candidates { node { id name } slurmName cpus gres blockedReason }
      blockedReason plan { controllers addedNodes removedNodes restartedNodes lost } fingerprint
    }
    ${ERRORS}
  }
}`

export const READINESS = `mutation RestCheckSlurmReadiness($input: CheckSlurmReadinessInput!) {
  result: checkSlurmReadiness(input: $input) {
    ... on CheckSlurmReadinessPayload { slurmReadinessCheck { ${READINESS_FIELDS} } } ${ERRORS}
  }
}`

export const READINESS_RESULT = `query RestSlurmReadinessCheck($id: ID!) {
  result: node(id: $id) { ... on SlurmReadinessCheck { ${READINESS_FIELDS} } }
}`

export const SCALE_OUT = `mutation RestScaleOutSlurmCluster($input: ScaleOutSlurmClusterInput!) {
  result: scaleOutSlurmCluster(input: $input) {
    ... on ScaleOutSlurmClusterPayload { slurmOperation { ${OPERATION_FIELDS} } } ${ERRORS}
  }
}`

export const OPERATION = `query RestSlurmOperation($id: ID!, $first: Int, $after: String) {
  result: node(id: $id) {
    ... on SlurmOperation {
      ${OPERATION_FIELDS}
      nodes(first: $first, after: $after) { ${PAGE} edges { node { name phase isFailed message checks { name state message } } } }
    }
  }
}`
