import { acknowledgeAlerts, alertAudit, resolveAlertManually } from '@muster/core/alerts'
import { Conflict, NotFound } from '@muster/core/errors'
import { rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { Alert } from './types.ts'

mutation('acknowledgeAlerts', {
  action: alertAudit.acknowledge,
  description: 'Acknowledges alerts. They stay open until their cause ends. A later acknowledgment replaces an earlier one.',
  input: (t) => ({
    ids: t.idList({ required: true, description: 'IDs of the alerts, at most 10,000.' }),
    note: t.string({ description: 'What is known, and what is being done.' }),
  }),
  payload: { alerts: { type: [Alert], description: 'The alerts, in the order of `ids`. At most 10,000.' } },
  errors: [NotFound],
  resolve: async ({ ids, note }, { ctx }) => ({
    alerts: await acknowledgeAlerts(ctx, { ids: ids.map((id) => rowId('Alert', id)), note: note ?? null }),
  }),
})

mutation('resolveAlertManually', {
  action: alertAudit.resolve,
  description:
    'Resolves an alert about an intended change, for example a removed accelerator. The present hardware becomes the expected hardware.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the alert.' }),
    note: t.string({ description: 'Reason of the change.' }),
  }),
  payload: { alert: { type: Alert, description: 'The alert.' } },
  errors: [Conflict, NotFound],
  resolve: async ({ id, note }, { ctx }) => ({ alert: await resolveAlertManually(ctx, { id: rowId('Alert', id), note }) }),
})
