import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const RunRowFragment = graphql(`
  fragment RunRow on JobRun {
    id number templateName status statusReason limit checkMode createdBy { name } createdAt startedAt finishedAt durationMs
    hostCounts { total ok failed unreachable offline } cancelBlockedReason
    template { id displayName }
  }
`)
export type RunRow = ResultOf<typeof RunRowFragment>

export const RunsQuery = graphql(
  `
  query Runs($filter: JobRunFilter, $first: Int, $after: String) {
    jobRuns(filter: $filter, first: $first, after: $after) {
      totalCount
      edges { cursor node { ...RunRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [RunRowFragment],
)

export const RunsUpdated = graphql(
  `
  subscription RunsUpdated { jobRunUpdated { ...RunRow } }
`,
  [RunRowFragment],
)

export const RunHeadFragment = graphql(
  `
  fragment RunHead on JobRun {
    ...RunRow
    playbookPath extraVars become becomeMethod becomeUser forks timeoutSeconds diffMode verbosity reason ansibleStartedAt
    cancelRequestedAt cancelRequestedBy { name } exitCode lastSeq lineCount interruptedHosts { count hostlist } logBlockedReason hasSecretVars
    jobTags skipTags serial maxFailPercentage
    attempt retryBlockedReason
    parent { id number createdAt }
    retries { id number status }
    batchOf { id number }
    slurm {
      clusterName batchSize deadlineSeconds floorPercent healthSeconds includeReserved maintenanceOnly waitsFor
      cluster { id } drained { count hostlist } pending { count hostlist }
      batches { number phase phaseSince finishedAt error hosts { hostlist } run { id number status } }
    }
    hostSummary { result count hostlist }
  }
`,
  [RunRowFragment],
)
export type RunHead = ResultOf<typeof RunHeadFragment>

export const RunHostFragment = graphql(`
  fragment RunHost on JobRunHost {
    name result ok changed failed unreachable skipped rescued ignored currentTask message
    node { id health { status reason } }
  }
`)
export type RunHost = ResultOf<typeof RunHostFragment>

export const RunQuery = graphql(
  `
  query Run($id: ID!) {
    node(id: $id) { __typename ... on JobRun { ...RunHead } }
  }
`,
  [RunHeadFragment],
)

/** Resolves a run number to an ID, for URLs such as /runs/12. */
export const RunNumberQuery = graphql(`
  query RunNumber($number: Int!) { jobRun(number: $number) { id } }
`)

export const RunHostsQuery = graphql(
  `
  query RunHosts($id: ID!, $after: String) {
    node(id: $id) { __typename ... on JobRun { id hosts(first: 500, after: $after) { edges { node { ...RunHost } } pageInfo { hasNextPage endCursor } } } }
  }
`,
  [RunHostFragment],
)

export const WaitingQuery = graphql(`
  query Waiting($id: ID!) {
    queue { isPaused }
    node(id: $id) {
      __typename
      ... on JobRun {
        id queuePosition waitingReason
        waitingFor { hostlist acquiredAt run { id number createdBy { name } template { id displayName } } }
      }
    }
  }
`)

export const ArtifactsQuery = graphql(`
  query Artifacts($id: ID!) {
    node(id: $id) {
      __typename
      ... on JobRun { id artifacts { id kind path sizeBytes sha256 createdAt downloadBlockedReason } }
    }
  }
`)

/** A download URL of an artifact. It expires after minutes, so it is requested on demand. */
export const ArtifactLink = graphql(`
  query ArtifactLink($id: ID!) {
    node(id: $id) { __typename ... on JobArtifact { id downloadUrl downloadBlockedReason } }
  }
`)

export const RunUpdated = graphql(
  `
  subscription RunUpdated($id: ID!) { jobRunUpdated(id: $id) { ...RunHead } }
`,
  [RunHeadFragment],
)

export const RunEventQuery = graphql(`
  query RunEvent($id: ID!, $after: String) {
    node(id: $id) { __typename ... on JobRun { id events(first: 1, after: $after) { edges { node { seq result } } } } }
  }
`)

export const CancelRun = graphql(
  `
  mutation CancelRun($id: ID!) {
    cancelJobRun(input: { id: $id }) {
      __typename
      ... on CancelJobRunPayload { run { ...RunHead } }
      ... on Error { message code }
    }
  }
`,
  [RunHeadFragment],
)

export const StartRun = graphql(
  `
  mutation StartRun($input: RunJobInput!) {
    runJob(input: $input) {
      __typename
      ... on RunJobPayload { run { ...RunRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [RunRowFragment],
)

export type StartInput = VariablesOf<typeof StartRun>['input']

export const RetryRun = graphql(
  `
  mutation RetryRun($input: RetryJobRunInput!) {
    retryJobRun(input: $input) {
      __typename
      ... on RetryJobRunPayload { run { ...RunRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [RunRowFragment],
)

export const PreviewRun = graphql(`
  query PreviewRun($input: RunJobInput!) {
    previewRun(input: $input) {
      __typename
      ... on RunPreview {
        hostCount hostlist command extraVars { name value { isSecret } }
        rejections { reason count hostlist } skipped { reason hostlist } setsMaintenance
        waitsFor { hostlist acquiredAt run { id number createdBy { name } template { id displayName } } }
        slurm {
          clusterName batchCount batches { hosts { hostlist } jobCount waitSeconds } partitions { name nodes inService floor }
          outOfService { count hostlist } skipped { host reason } waiting { host reason } waitsFor estimatedSeconds
        }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type RunPreview = Extract<ResultOf<typeof PreviewRun>['previewRun'], { __typename: 'RunPreview' }>

export const TemplatesQuery = graphql(`
  query Templates {
    jobTemplates(first: 200) {
      edges {
        node {
          id name displayName description category tags isSystem
          settings { become becomeMethod timeoutSeconds forks defaultVars inputSchema serial maxFailPercentage jobTags skipTags }
        }
      }
    }
  }
`)
type TemplateNode = ResultOf<typeof TemplatesQuery>['jobTemplates']['edges'][number]['node']
/** A template with its settings merged into the object. */
export type Template = TemplateNode & TemplateNode['settings']
