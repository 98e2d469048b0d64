import { discoverNodes } from '@muster/core/discoveries'
import { defineIsolation, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ tenant, node }) => ({ Discovery: (await discoverNodes(tenant.operator, { nodeIds: [node.id] }))[0]! }),
  cases: {
    'Query.discoveryDiff': {
      query: ({ theirs }) => `{ discoveryDiff(fromId: "${theirs.Discovery}", toId: "${theirs.Discovery}") { path } }`,
      code: 'NOT_FOUND',
    },
    'Mutation.discoverNodes': {
      query: ({ theirs }) =>
        `mutation { it: discoverNodes(input: { nodeIds: ["${theirs.ComputeNode}"] }) { __typename } all: discoverNodes(input: {}) { __typename ... on DiscoverNodesPayload { discoveries { id } } } }`,
      answer: { it: NOT_FOUND, all: { __typename: 'DiscoverNodesPayload', discoveries: [] } },
    },
    'Subscription.discoveryUpdated': {
      query: ({ theirs }) => `subscription { discoveryUpdated(ids: ["${theirs.Discovery}"]) { id } }`,
    },
  },
})
