import { expect } from 'vitest'
import { defineIsolation } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  cases: {
    // The stranger's own tenant was created, and so was the token of the request.
    'Query.auditEntries': {
      query: ({ theirs }) =>
        `{ it: auditEntries { edges { node { action } } } again: auditEntries(filter: { objectId: "${theirs.ComputeNode}" }) { totalCount } }`,
      answer: {
        it: { edges: [{ node: { action: 'api_token.create' } }, { node: { action: 'tenant.create' } }] },
        again: { totalCount: 0 },
      },
    },
    'Query.auditActions': { query: () => '{ it: auditActions }', answer: { it: expect.arrayContaining(['job_run.cancel']) } },
    'Query.auditChain': {
      query: () => '{ it: auditChain { checkedCount unsealedCount } }',
      answer: { it: { checkedCount: 0, unsealedCount: 2 } },
    },
  },
})
