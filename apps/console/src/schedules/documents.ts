import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

const FiringFragment = graphql(`
  fragment FiringRow on ScheduleFiring {
    id dueAt firedAt outcome reason message missedCount discoveryCount firedBy { name } run { id number status statusReason }
  }
`)
export type Firing = ResultOf<typeof FiringFragment>

const ScheduleFragment = graphql(
  `
  fragment ScheduleRow on Schedule {
    id name description target limit rule ruleText(language: $language) timeZone isEnabled nextRunAt
    template { id displayName }
    owner { name } updateBlockedReason
    firings(first: 1) { edges { node { ...FiringRow } } }
  }
`,
  [FiringFragment],
)
export type ScheduleRow = ResultOf<typeof ScheduleFragment>

export const SchedulesQuery = graphql(
  `
  query Schedules($first: Int, $after: String, $filter: ScheduleFilter, $language: RuleLanguage) {
    schedules(first: $first, after: $after, filter: $filter) {
      totalCount
      edges { node { ...ScheduleRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [ScheduleFragment],
)

export const SchedulesUpdated = graphql(
  `
  subscription SchedulesUpdated($language: RuleLanguage) { scheduleUpdated { ...ScheduleRow } }
`,
  [ScheduleFragment],
)

const TimeFragment = graphql(`
  fragment DueTime on ScheduleTime { dueAt runAt blackout }
`)
export type DueTime = ResultOf<typeof TimeFragment>

export const ScheduleQuery = graphql(
  `
  query Schedule($id: ID!, $language: RuleLanguage) {
    node(id: $id) {
      __typename
      ... on Schedule {
        ...ScheduleRow
        template { id name displayName }
        jitterSeconds catchUp overlap startsAt endsAt createdAt createdBy { name } updatedAt
        blackouts { name rule durationMinutes startsAt endsAt }
        settings {
          extraVars become forks timeoutSeconds serial maxFailPercentage jobTags skipTags checkMode diffMode verbosity drainsSlurmNodes
        }
        nextTimes { ...DueTime }
      }
    }
  }
`,
  [ScheduleFragment, TimeFragment],
)
type Found = NonNullable<ResultOf<typeof ScheduleQuery>['node']>
export type Schedule = Extract<Found, { __typename: 'Schedule' }>

export const ScheduleUpdated = graphql(`
  subscription ScheduleUpdated($id: ID!) { scheduleUpdated(id: $id) { id isEnabled nextRunAt updatedAt firings(first: 1) { edges { node { id } } } } }
`)

export const FiringsQuery = graphql(
  `
  query ScheduleFirings($id: ID!, $first: Int, $after: String) {
    node(id: $id) {
      __typename
      ... on Schedule {
        id
        firings(first: $first, after: $after) {
          totalCount
          edges { node { ...FiringRow } }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
`,
  [FiringFragment],
)

export const PreviewQuery = graphql(
  `
  query PreviewSchedule($input: PreviewScheduleInput!, $language: RuleLanguage) {
    previewSchedule(input: $input) {
      __typename
      ... on SchedulePreview { description(language: $language) times { ...DueTime } }
      ... on InvalidInputError { issues { path message } message code }
    }
  }
`,
  [TimeFragment],
)

export const CreateSchedule = graphql(`
  mutation CreateSchedule($input: CreateScheduleInput!) {
    createSchedule(input: $input) {
      __typename
      ... on CreateSchedulePayload { schedule { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type CreateInput = VariablesOf<typeof CreateSchedule>['input']

export const UpdateSchedule = graphql(`
  mutation UpdateSchedule($input: UpdateScheduleInput!) {
    updateSchedule(input: $input) {
      __typename
      ... on UpdateSchedulePayload { schedule { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const EnableSchedule = graphql(`
  mutation EnableSchedule($input: EnableScheduleInput!) {
    enableSchedule(input: $input) {
      __typename
      ... on EnableSchedulePayload { schedule { id isEnabled nextRunAt } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const DisableSchedule = graphql(`
  mutation DisableSchedule($input: DisableScheduleInput!) {
    disableSchedule(input: $input) {
      __typename
      ... on DisableSchedulePayload { schedule { id isEnabled nextRunAt } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RunSchedule = graphql(`
  mutation RunSchedule($input: RunScheduleInput!) {
    runSchedule(input: $input) {
      __typename
      ... on RunSchedulePayload { firing { id discoveryCount run { id number } } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const DeleteSchedule = graphql(`
  mutation DeleteSchedule($input: DeleteScheduleInput!) {
    deleteSchedule(input: $input) {
      __typename
      ... on DeleteSchedulePayload { deletedId }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const scheduleHref = (id: string): string => `/schedules/${encodeURIComponent(id)}`
