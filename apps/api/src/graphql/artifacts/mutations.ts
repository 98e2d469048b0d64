import { setRetention } from '@muster/core/runs'
import { mutation } from '../shared/mutation.ts'
import { Retention } from './types.ts'

mutation('setRetention', {
  description:
    'Sets how long data of runs and the audit log are kept. Omitted fields keep their values; null keeps the data forever. Older data is deleted permanently within minutes.',
  input: (t) => ({
    logDays: t.int({ description: 'Days to keep logs.' }),
    artifactDays: t.int({ description: 'Days to keep artifacts.' }),
    runDays: t.int({ description: 'Days to keep runs.' }),
    auditDays: t.int({
      description: 'Days to keep entries of the audit log, at least 30. Requires the permission `audit:write`.',
    }),
  }),
  payload: { retention: { type: Retention, description: 'The retention settings.' } },
  resolve: async (input, { ctx }) => ({ retention: await setRetention(ctx, input) }),
})
