import { acknowledgeAlerts, resolveAlertManually } from '@muster/core/alerts'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { AcknowledgedAlerts, Alert } from './types.ts'

builder.mutationField('acknowledgeAlerts', (t) =>
  t.field({
    type: AcknowledgedAlerts,
    description:
      'Say that one looks after alerts. They stay open until what they tell of is over; a later note replaces an earlier.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, NotFound] },
    args: {
      ids: t.arg.idList({ required: true, description: 'Which alerts.' }),
      note: t.arg.string({ description: 'What is known, and what is being done.' }),
    },
    resolve: async (_root, { ids, note }, { ctx }) => ({
      alerts: await acknowledgeAlerts(ctx, { ids: ids.map((id) => rowId('Alert', id)), note: note ?? null }),
    }),
  }),
)

builder.mutationField('resolveAlertManually', (t) =>
  t.field({
    type: Alert,
    description:
      'End an alert of something that is meant to stay: accelerators that were taken out on purpose. What the node has now is expected of it from here on.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: {
      id: t.arg.id({ required: true, description: 'Which alert.' }),
      note: t.arg.string({ description: 'Why it is meant to stay.' }),
    },
    resolve: (_root, { id, note }, { ctx }) => resolveAlertManually(ctx, { id: rowId('Alert', id), note }),
  }),
)
