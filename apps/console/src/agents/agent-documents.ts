import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const AgentFragment = graphql(`
  fragment AgentHead on Agent {
    agentId cluster state stateSince stateReason version registeredAt seenFrom fingerprint offeredFingerprint offlineSuppressedAt
    drainRequestedAt drainRequestedBy { name } drainReason drainError
    drainBlockedReason resumeBlockedReason deregisterBlockedReason resetSequenceBlockedReason approveBlockedReason
    lastHeartbeat { receivedAt skewMs bootEpoch sequence accepted missed health slurmState runningJobs cpuPercent memoryPercent }
    trust { check isOk message }
    key { id }
    keys {
      id status publicKey fingerprint note seenFrom createdAt createdBy { name } approvedAt approvedBy { name } revokedAt revokedBy { name } revokedReason
      revokeBlockedReason
    }
  }
`)
export type Agent = ResultOf<typeof AgentFragment>
export type AgentKey = Agent['keys'][number]

export const NodeAgentQuery = graphql(
  `
  query NodeAgent($id: ID!) {
    node(id: $id) {
      __typename
      ... on ComputeNode {
        id
        region
        datacenter
        slurmState { state source observedAt }
        agent {
          ...AgentHead
          slurmCluster { id name }
          report {
            sentAt measuredAt agentVersion hardwareFingerprint health healthReasons lastErrorMessage uptimeSeconds loadAverages
            cpuPercent memoryPercent acceleratorPercent temperatureCelsius
            cpuCores { total available allocated }
            memoryBytes { total available allocated }
            storageBytes { total available allocated }
            acceleratorCounts { total available allocated }
            jobs { running pending completed24h failed24h }
            accelerators {
              index vendor model uuid pciAddress health memoryTotalBytes memoryUsedBytes utilizationPercent temperatureCelsius powerWatts
              eccCorrected eccUncorrected
            }
            interfaces { name kind state speedMbps errors }
          }
          transitions {
            from to reason at
            evidence { silentSeconds sequence slurmState rejectionCode rejectionCount runningJobs drainRequestedBy { name } drainReason isOfflineSuppressed requestedBy { name } reason seenFrom }
          }
          heartbeatHistory { at heartbeats missed cpuPercent memoryPercent maxSkewMs }
        }
      }
    }
  }
`,
  [AgentFragment],
)
export type NodeWithAgent = Extract<NonNullable<ResultOf<typeof NodeAgentQuery>['node']>, { __typename: 'ComputeNode' }>
export type AgentDetails = NonNullable<NodeWithAgent['agent']>

export const DrainAgent = graphql(
  `
  mutation DrainAgent($nodeId: ID!, $reason: String!) {
    drainAgent(input: { nodeId: $nodeId, reason: $reason }) {
      __typename
      ... on DrainAgentPayload { agent { ...AgentHead } }
      ... on Error { message code }
    }
  }
`,
  [AgentFragment],
)
export const ResumeAgent = graphql(
  `
  mutation ResumeAgent($nodeId: ID!) {
    resumeAgent(input: { nodeId: $nodeId }) { __typename ... on ResumeAgentPayload { agent { ...AgentHead } } ... on Error { message code } }
  }
`,
  [AgentFragment],
)
export const DeregisterAgent = graphql(
  `
  mutation DeregisterAgent($nodeId: ID!) {
    deregisterAgent(input: { nodeId: $nodeId }) { __typename ... on DeregisterAgentPayload { agent { ...AgentHead } } ... on Error { message code } }
  }
`,
  [AgentFragment],
)
export const ResetAgentSequence = graphql(
  `
  mutation ResetAgentSequence($nodeId: ID!) {
    resetAgentSequence(input: { nodeId: $nodeId }) { __typename ... on ResetAgentSequencePayload { agent { ...AgentHead } } ... on Error { message code } }
  }
`,
  [AgentFragment],
)
export const ApproveAgentChange = graphql(
  `
  mutation ApproveAgentChange($nodeId: ID!, $keyId: ID, $fingerprint: String) {
    approveAgentChange(input: { nodeId: $nodeId, keyId: $keyId, fingerprint: $fingerprint }) { __typename ... on ApproveAgentChangePayload { agent { ...AgentHead } } ... on Error { message code } }
  }
`,
  [AgentFragment],
)
