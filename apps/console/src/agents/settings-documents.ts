import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const AgentSettingsFragment = graphql(`
  fragment AgentSettingsForm on AgentSettings {
    heartbeatIntervalSeconds staleAfterSeconds offlineAfterSeconds massOutagePercent massOutageMinNodes deregisterAfterDays updateBlockedReason
  }
`)
export type AgentSettings = ResultOf<typeof AgentSettingsFragment>

export const AgentSettingsQuery = graphql(
  `
  query AgentSettings { agentSettings { ...AgentSettingsForm } }
`,
  [AgentSettingsFragment],
)

export const UpdateAgentSettings = graphql(
  `
  mutation UpdateAgentSettings($input: UpdateAgentSettingsInput!) {
    updateAgentSettings(input: $input) {
      __typename
      ... on UpdateAgentSettingsPayload { agentSettings { ...AgentSettingsForm } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [AgentSettingsFragment],
)
