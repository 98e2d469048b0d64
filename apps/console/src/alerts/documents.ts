import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const AlertFragment = graphql(`
  fragment AlertRow on Alert {
    id kind severity message cluster openedAt lastSeenAt count resolvedAt acknowledgedAt acknowledgedBy { name } acknowledgment
    acknowledgeBlockedReason resolveBlockedReason
    node { id name health { status reason } }
  }
`)
export type AlertRow = ResultOf<typeof AlertFragment>

export const AlertsQuery = graphql(
  `
  query Alerts($filter: AlertFilter, $first: Int, $after: String) {
    alerts(filter: $filter, first: $first, after: $after) {
      totalCount
      edges { node { ...AlertRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [AlertFragment],
)
export type AlertFilter = NonNullable<VariablesOf<typeof AlertsQuery>['filter']>

export const AlertQuery = graphql(`
  query AlertEvidence($id: ID!) {
    node(id: $id) {
      __typename
      ... on Alert {
        id
        evidence {
          __typename
          ... on AgentStateEvidence { lastHeartbeatAt silentSeconds bootEpoch sequence slurmState rejectionCode rejectionCount runningJobs drainReason }
          ... on HeartbeatIntervalEvidence { intervalSeconds meanSeconds deviationSeconds zScore }
          ... on SequenceGapEvidence { missed sequence }
          ... on KeyChangeEvidence { publicKey keyFingerprint seenFrom }
          ... on DuplicateKeyEvidence { receivedAt rejected { bootEpoch sequence bootId } accepted { bootEpoch sequence bootId } }
          ... on HardwareChangeEvidence { fingerprint seenFrom }
          ... on ClockSkewEvidence { skewMs }
          ... on AcceleratorCountEvidence { before now lost }
          ... on MassOutageEvidence { silentNodes totalNodes }
          ... on AuditSinkEvidence { sinks { name since error } }
          ... on OpenchamiTargetEvidence { differenceCount objects error }
          ... on ScheduleEvidence { schedules { name dueAt runNumber reason } }
          ... on BootProgressEvidence { stage since }
          ... on BootTokenEvidence { reason address }
          ... on SlurmControllerEvidence { since error }
          ... on SlurmNodesEvidence { total nodes { name detail since } }
          ... on SlurmScaleOutEvidence { operationId error total nodes { name detail since } }
        }
      }
    }
  }
`)
type QueriedNode = NonNullable<ResultOf<typeof AlertQuery>['node']>
export type AlertEvidence = Extract<QueriedNode, { __typename: 'Alert' }>['evidence']

export const AlertClusterQuery = graphql(`
  query AlertCluster($name: String!) { slurmCluster(name: $name) { id name } }
`)

export const AlertUpdated = graphql(
  `
  subscription AlertUpdated { alertUpdated { alert { ...AlertRow } } }
`,
  [AlertFragment],
)

export const AcknowledgeAlerts = graphql(
  `
  mutation AcknowledgeAlerts($ids: [ID!]!, $note: String) {
    acknowledgeAlerts(input: { ids: $ids, note: $note }) {
      __typename
      ... on AcknowledgeAlertsPayload { alerts { ...AlertRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [AlertFragment],
)

export const ResolveAlert = graphql(
  `
  mutation ResolveAlert($id: ID!, $note: String) {
    resolveAlertManually(input: { id: $id, note: $note }) {
      __typename
      ... on ResolveAlertManuallyPayload { alert { ...AlertRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [AlertFragment],
)

export const MatcherFragment = graphql(`
  fragment Matcher on AlertMatcher { kinds severities query clusters }
`)
export type Matcher = ResultOf<typeof MatcherFragment>

export const SilencesQuery = graphql(
  `
  query AlertSilences($first: Int, $after: String) {
    alertSilences(first: $first, after: $after) {
      edges { node { id matcher { ...Matcher } reason startsAt endsAt createdBy { name } endBlockedReason } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [MatcherFragment],
)
export type Silence = ResultOf<typeof SilencesQuery>['alertSilences']['edges'][number]['node']

export const CreateAlertSilence = graphql(`
  mutation CreateAlertSilence($input: CreateAlertSilenceInput!) {
    createAlertSilence(input: $input) {
      __typename
      ... on CreateAlertSilencePayload { alertSilence { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const EndAlertSilence = graphql(`
  mutation EndAlertSilence($id: ID!) {
    endAlertSilence(input: { id: $id }) { __typename ... on EndAlertSilencePayload { alertSilence { id endsAt endBlockedReason } } ... on Error { message code } }
  }
`)
