import { graphql } from '@/graphql/graphql.ts'

export const CreateEnrollmentToken = graphql(`
  mutation CreateAgentEnrollmentToken($nodeId: ID, $expiresInMinutes: Int, $note: String) {
    createAgentEnrollmentToken(nodeId: $nodeId, expiresInMinutes: $expiresInMinutes, note: $note) {
      __typename
      ... on CreatedAgentEnrollmentToken { token prefix expiresAt }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const AllowAgentKey = graphql(`
  mutation AllowAgentKey($publicKey: String!, $nodeId: ID, $agentId: String, $note: String) {
    allowAgentKey(publicKey: $publicKey, nodeId: $nodeId, agentId: $agentId, note: $note) {
      __typename
      ... on AgentKey { id status fingerprint }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RevokeAgentKey = graphql(`
  mutation RevokeAgentKey($id: ID!, $reason: String!) {
    revokeAgentKey(id: $id, reason: $reason) {
      __typename
      ... on AgentKey { id status revokedAt revokedByName revokedReason revokeBlockedReason }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const WaitingAgentsQuery = graphql(`
  query AgentReviewNotice { nodes(filter: { hasAgentAlarm: true }, first: 1) { totalCount edges { node { id name } } } }
`)
