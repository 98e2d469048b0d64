import { graphql } from '@/graphql/graphql.ts'

export const CreateEnrollmentToken = graphql(`
  mutation CreateAgentEnrollmentToken($nodeId: ID, $expiresInSeconds: Int, $note: String) {
    createAgentEnrollmentToken(input: { nodeId: $nodeId, expiresInSeconds: $expiresInSeconds, note: $note }) {
      __typename
      ... on CreateAgentEnrollmentTokenPayload { token agentEnrollmentToken { id prefix expiresAt } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const AllowAgentKey = graphql(`
  mutation AllowAgentKey($publicKey: String!, $nodeId: ID, $agentId: String, $note: String) {
    allowAgentKey(input: { publicKey: $publicKey, nodeId: $nodeId, agentId: $agentId, note: $note }) {
      __typename
      ... on AllowAgentKeyPayload { agentKey { id status fingerprint } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RevokeAgentKey = graphql(`
  mutation RevokeAgentKey($id: ID!, $reason: String!) {
    revokeAgentKey(input: { id: $id, reason: $reason }) {
      __typename
      ... on RevokeAgentKeyPayload { agentKey { id status revokedAt revokedBy { name } revokedReason revokeBlockedReason } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const WaitingAgentsQuery = graphql(`
  query AgentReviewNotice { nodes(filter: { hasAgentAlarm: true }, first: 1) { totalCount edges { node { id name } } } }
`)
