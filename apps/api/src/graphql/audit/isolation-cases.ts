import { createAuditSink } from '@muster/core/audit-sinks'
import { expect } from 'vitest'
import { defineIsolation, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ tenant }) => ({
    AuditSink: await createAuditSink(tenant.owner, { name: 'theirs', kind: 'syslog', host: 'siem.test' }),
  }),
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
    'Query.auditSinks': {
      query: () => '{ it: auditSinks { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    // Names are unique per tenant, so the stranger creates an object of their own.
    'Mutation.createAuditSink': {
      query: () => 'mutation { it: createAuditSink(input: { name: "theirs", kind: SYSLOG, host: "siem.test" }) { __typename } }',
      answer: { it: { __typename: 'CreateAuditSinkPayload' } },
    },
    'Mutation.updateAuditSink': {
      query: ({ theirs }) =>
        `mutation { it: updateAuditSink(input: { id: "${theirs.AuditSink}", name: "mine" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.deleteAuditSink': {
      query: ({ theirs }) => `mutation { it: deleteAuditSink(input: { id: "${theirs.AuditSink}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.testAuditSink': {
      query: ({ theirs }) => `mutation { it: testAuditSink(input: { id: "${theirs.AuditSink}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
  },
})
