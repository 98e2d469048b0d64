import { createEnrollmentToken } from '@muster/core/agents'
import { schema } from '@muster/core/registry'
import { defineIsolation, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ t, tenant, node: { id: nodeId, tenantId } }) => {
    const { db } = t.runtime
    await db.insert(schema.agents).values({ nodeId, tenantId, agentId: 'their-agent', cluster: 'theirs' })
    const key = { tenantId, nodeId, publicKey: 'theirs', status: 'ALLOWED' as const, createdByName: 'them' }
    return {
      AgentKey: (await db.insert(schema.agentKeys).values(key).returning())[0]!,
      AgentEnrollmentToken: (await createEnrollmentToken(tenant.operator, {})).enrollmentToken,
    }
  },
  cases: {
    'Query.agentFleet': {
      query: () => '{ it: agentFleet { suppressedCount counts { count } clusters { nodes { name } } } }',
      answer: { it: { suppressedCount: 0, counts: [], clusters: [] } },
    },
    'Query.agentKeys': {
      query: () => '{ it: agentKeys { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    'Query.agentSettings': {
      query: () => '{ it: agentSettings { staleAfterSeconds } }',
      answer: { it: { staleAfterSeconds: 120 } },
    },
    'Mutation.updateAgentSettings': {
      query: () =>
        'mutation { it: updateAgentSettings(input: { staleAfterSeconds: 90 }) { __typename ... on UpdateAgentSettingsPayload { agentSettings { staleAfterSeconds offlineAfterSeconds } } } }',
      answer: {
        it: { __typename: 'UpdateAgentSettingsPayload', agentSettings: { staleAfterSeconds: 90, offlineAfterSeconds: 300 } },
      },
    },
    'Mutation.createAgentEnrollmentToken': {
      query: ({ theirs }) =>
        `mutation { it: createAgentEnrollmentToken(input: { nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
      answer: { it: { __typename: 'InvalidInputError' } },
    },
    'Query.agentEnrollmentTokens': {
      query: () => '{ it: agentEnrollmentTokens(includeEnded: true) { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    'Mutation.revokeAgentEnrollmentToken': {
      query: ({ theirs }) =>
        `mutation { it: revokeAgentEnrollmentToken(input: { id: "${theirs.AgentEnrollmentToken}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.allowAgentKey': {
      query: ({ theirs }) =>
        `mutation { it: allowAgentKey(input: { publicKey: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
      answer: { it: { __typename: 'InvalidInputError' } },
    },
    'Mutation.revokeAgentKey': {
      query: ({ theirs }) => `mutation { it: revokeAgentKey(input: { id: "${theirs.AgentKey}", reason: "x" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.approveAgentChange': {
      query: ({ theirs }) =>
        `mutation { it: approveAgentChange(input: { nodeId: "${theirs.ComputeNode}", keyId: "${theirs.AgentKey}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.drainAgent': {
      query: ({ theirs }) =>
        `mutation { it: drainAgent(input: { nodeId: "${theirs.ComputeNode}", reason: "x" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.resumeAgent': {
      query: ({ theirs }) => `mutation { it: resumeAgent(input: { nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.deregisterAgent': {
      query: ({ theirs }) => `mutation { it: deregisterAgent(input: { nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.resetAgentSequence': {
      query: ({ theirs }) => `mutation { it: resetAgentSequence(input: { nodeId: "${theirs.ComputeNode}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
  },
})
