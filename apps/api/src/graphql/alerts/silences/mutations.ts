import { createAlertSilence, endAlertSilence } from '@muster/core/alerts'
import { Conflict, NotFound } from '@muster/core/errors'
import { rowId } from '../../shared/ids.ts'
import { mutation } from '../../shared/mutation.ts'
import { AlertMatcherInput, AlertSilence } from './types.ts'

const payload = { alertSilence: { type: AlertSilence, description: 'The silence.' } }

mutation('createAlertSilence', {
  description: 'Creates a silence: no notifications are sent for the alerts that match while it is active.',
  input: (t) => ({
    matcher: t.field({
      type: AlertMatcherInput,
      required: true,
      description: 'The alerts to silence; an empty matcher matches all.',
    }),
    reason: t.string({ required: true, description: 'Reason.' }),
    startsAt: t.field({ type: 'DateTime', description: 'Start. Default: now.' }),
    endsAt: t.field({ type: 'DateTime', required: true, description: 'End, at most 366 days after the start.' }),
  }),
  idempotent: true,
  payload,
  resolve: async (input, { ctx }) => ({ alertSilence: await createAlertSilence(ctx, input) }),
})

mutation('endAlertSilence', {
  description: 'Ends a silence early. Notifications are sent for the silenced alerts that are still open.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the silence.' }) }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({ alertSilence: await endAlertSilence(ctx, { id: rowId('AlertSilence', id) }) }),
})
