import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'
import { ClusterFragment } from './documents.ts'

export const ClusterPageFragment = graphql(
  `
  fragment SlurmClusterPage on SlurmCluster {
    ...SlurmClusterRow
    readNode { id name } fallbackReason
    originalClusterName discoveredAt refreshDurationMs createdAt settingsReadAt
    queries { query command state exitCode durationMs detail hint }
    reservations { name startAt endAt nodeList nodeCount partition flags users accounts comment }
    licenses { name total used free reserved isRemote }
    scheduler { serverThreads main { lastUs queueLength } backfill { lastUs } }
    totals {
      jobs
      pendingReasons { reason jobs }
    }
  }
`,
  [ClusterFragment],
)
export type ClusterPage = ResultOf<typeof ClusterPageFragment>

export const ClusterQuery = graphql(
  `
  query SlurmClusterPage($id: ID!) {
    slurmCluster(id: $id) { ...SlurmClusterPage }
  }
`,
  [ClusterPageFragment],
)

export const ClusterPageUpdated = graphql(
  `
  subscription SlurmClusterPageUpdated($id: ID!) {
    slurmClusterUpdated(id: $id) { ...SlurmClusterPage }
  }
`,
  [ClusterPageFragment],
)

export const ClusterSettingsQuery = graphql(`
  query SlurmClusterSettings($id: ID!) {
    slurmCluster(id: $id) { id settingsReadAt settings { name value } }
  }
`)

const NodeRowFragment = graphql(`
  fragment SlurmNodeRow on SlurmNode {
    id name state states partitions cpus allocatedCpus gpus allocatedGpus memoryMiB allocatedMemoryMiB reason match
    node { id name health { status reason } }
  }
`)
export type NodeRow = ResultOf<typeof NodeRowFragment>

export const ClusterNodesQuery = graphql(
  `
  query SlurmClusterNodes($id: ID!, $filter: SlurmNodeFilter, $first: Int, $after: String) {
    slurmCluster(id: $id) {
      id
      nodes(filter: $filter, first: $first, after: $after) {
        totalCount
        edges { node { ...SlurmNodeRow } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [NodeRowFragment],
)
export type NodeFilter = NonNullable<VariablesOf<typeof ClusterNodesQuery>['filter']>

const NodeDetailsFragment = graphql(`
  fragment SlurmNodeDetails on SlurmNode {
    id name hostname address state states partitions reservation reason reasonUser reasonAt comment
    slurmdVersion architecture operatingSystem
    cpus allocatedCpus sockets coresPerSocket threadsPerCore cpuLoad memoryMiB allocatedMemoryMiB freeMemoryMiB
    gres { name type count used usedIndexes }
    features activeFeatures weight bootAt lastBusyAt
    match matchedBy matchConflict
    matchCandidates { id name host }
    differences { kind configured discovered }
    node { id name host health { status reason } acceleratorSummary { deviceType model count worstHealth memoryTotalBytes } }
    cluster { id name updateBlockedReason }
  }
`)
export type NodeDetails = ResultOf<typeof NodeDetailsFragment>

export const NodeDetailsQuery = graphql(
  `
  query SlurmNodeDetails($id: ID!) {
    node(id: $id) { __typename id ... on SlurmNode { ...SlurmNodeDetails } }
  }
`,
  [NodeDetailsFragment],
)

export const MatchNode = graphql(
  `
  mutation MatchSlurmNode($input: MatchSlurmNodeInput!) {
    matchSlurmNode(input: $input) {
      __typename
      ... on MatchSlurmNodePayload { slurmNode { ...SlurmNodeDetails } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [NodeDetailsFragment],
)

export const OnboardNodes = graphql(`
  mutation OnboardSlurmNodes($input: OnboardSlurmNodesInput!) {
    onboardSlurmNodes(input: $input) {
      __typename
      ... on OnboardSlurmNodesPayload {
        report { addedCount failedCount rows { row source name host port state issues { path message } node { id name } } }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

const PartitionFragment = graphql(`
  fragment SlurmPartitionRow on SlurmPartition {
    id name state isDefault isHidden nodeList nodeCount maxTimeMinutes allowGroups allowAccounts allowQos
    nodesByState { state nodes cpus allocatedCpus gpus allocatedGpus }
    jobsByState { state jobs }
    actionPermissions { verb blockedReason }
  }
`)
export type PartitionRow = ResultOf<typeof PartitionFragment>

export const ClusterPartitionsQuery = graphql(
  `
  query SlurmClusterPartitions($id: ID!, $first: Int, $after: String) {
    slurmCluster(id: $id) {
      id
      partitions(first: $first, after: $after) {
        totalCount
        edges { node { ...SlurmPartitionRow } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [PartitionFragment],
)

const JobRowFragment = graphql(`
  fragment SlurmJobRow on SlurmJob {
    id jobId name user account partition state reason submittedAt startAt endAt nodeList nodeCount cpus
    gres { name type count }
  }
`)
export type JobRow = ResultOf<typeof JobRowFragment>

export const ClusterJobsQuery = graphql(
  `
  query SlurmClusterJobs($id: ID!, $filter: SlurmJobFilter, $first: Int, $after: String) {
    slurmCluster(id: $id) {
      id
      jobs(filter: $filter, first: $first, after: $after) {
        totalCount
        edges { node { ...SlurmJobRow } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`,
  [JobRowFragment],
)
export type JobFilter = NonNullable<VariablesOf<typeof ClusterJobsQuery>['filter']>

const JobDetailsFragment = graphql(
  `
  fragment SlurmJobDetails on SlurmJob {
    ...SlurmJobRow
    states qos reasonDetail priority timeLimitMinutes isTimeUnlimited
    tres { name amount } licenses
    dependency reservation comment workingDirectory exitCode exitSignal
    actionPermissions { verb blockedReason }
    cluster { id name state failingSince refreshedAt isRefreshing }
  }
`,
  [JobRowFragment],
)
export type JobDetails = ResultOf<typeof JobDetailsFragment>

export const JobQuery = graphql(
  `
  query SlurmJobPage($id: ID!) {
    node(id: $id) { __typename id ... on SlurmJob { ...SlurmJobDetails } }
  }
`,
  [JobDetailsFragment],
)
