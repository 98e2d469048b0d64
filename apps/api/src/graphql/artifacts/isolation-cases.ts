import { schema } from '@muster/core/registry'
import { defineIsolation } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ t, run }) => {
    const facts = { kind: 'log' as const, path: 'log.txt', size: 1, sha256: '', store: 'local' as const, key: 'a' }
    const values = { ...facts, tenantId: run.tenantId, jobRunId: run.id }
    const [artifact] = await t.runtime.db.insert(schema.jobArtifacts).values(values).returning()
    return { JobArtifact: artifact! }
  },
  cases: {
    'Query.retention': { query: () => '{ it: retention { logDays } }', answer: { it: { logDays: null } } },
    'Mutation.setRetention': {
      query: () =>
        'mutation { it: setRetention(input: { logDays: 7 }) { __typename ... on SetRetentionPayload { retention { logDays runDays } } } }',
      answer: { it: { __typename: 'SetRetentionPayload', retention: { logDays: 7, runDays: null } } },
    },
  },
})
