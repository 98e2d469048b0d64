import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const AgentFragment = graphql(`
  fragment AgentHead on Agent {
    agentId cluster state stateSince stateReason version registeredAt seenFrom fingerprint offeredFingerprint offlineSuppressedAt
    drainRequestedAt drainRequestedByName drainReason
    drainBlockedReason resumeBlockedReason deregisterBlockedReason resetSequenceBlockedReason approveBlockedReason
    lastHeartbeat { receivedAt skewMs bootEpoch sequence accepted missed health slurmState runningJobs cpuPercent memoryPercent }
    trust { check isOk text }
    key { id }
    keys {
      id status publicKey fingerprint note seenFrom createdAt createdByName approvedAt approvedByName revokedAt revokedByName revokedReason
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
        agent {
          ...AgentHead
          report
          transitions { from to reason evidence at }
          history { at beats missed cpuPercent memoryPercent maxSkewMs }
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
