import { defineIsolation } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  cases: {
    'Subscription.heartbeats': { query: ({ theirs }) => `subscription { heartbeats(nodeId: "${theirs.ComputeNode}") { name } }` },
  },
})
