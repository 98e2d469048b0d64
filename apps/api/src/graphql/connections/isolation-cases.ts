import { testConnections } from '@muster/core/connections'
import { defineIsolation, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ tenant, node }) => ({ ConnectionTest: (await testConnections(tenant.operator, { nodeIds: [node.id] }))[0]! }),
  cases: {
    'Mutation.approveHostKeys': {
      query: ({ theirs }) =>
        `mutation { it: approveHostKeys(input: { approvals: [{ id: "${theirs.ComputeNode}", fingerprint: "SHA256:${'A'.repeat(43)}" }] }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.testConnections': {
      query: ({ theirs }) => `mutation { it: testConnections(input: { nodeIds: ["${theirs.ComputeNode}"] }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Subscription.connectionTestUpdated': {
      query: ({ theirs }) => `subscription { connectionTestUpdated(ids: ["${theirs.ConnectionTest}"]) { id } }`,
    },
  },
})
