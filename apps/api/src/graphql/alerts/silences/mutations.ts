import { createAlertSilence, endAlertSilence } from '@muster/core/alerts'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { rowId } from '../../shared/ids.ts'
import { AlertMatcherInput, AlertSilence } from './types.ts'

const CreateAlertSilenceInput = builder.inputType('CreateAlertSilenceInput', {
  description: 'A silence to make.',
  fields: (t) => ({
    matcher: t.field({ type: AlertMatcherInput, required: true, description: 'Which alerts; empty: all.' }),
    reason: t.string({ required: true, description: 'Why, for those who wonder.' }),
    startsAt: t.field({ type: 'DateTime', description: 'When it begins; left out: now.' }),
    endsAt: t.field({ type: 'DateTime', required: true, description: 'When it ends, at most 366 days after its start.' }),
  }),
})

builder.mutationFields((t) => ({
  createAlertSilence: t.field({
    type: AlertSilence,
    description: 'Tell nobody of some alerts for a while.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON] },
    args: { input: t.arg({ type: CreateAlertSilenceInput, required: true, description: 'Which, how long and why.' }) },
    resolve: (_root, { input }, { ctx }) => createAlertSilence(ctx, input),
  }),
  endAlertSilence: t.field({
    type: AlertSilence,
    description: 'End a silence before its time. Alerts that it held back are told now, if they are open still.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which silence.' }) },
    resolve: (_root, { id }, { ctx }) => endAlertSilence(ctx, { id: rowId('AlertSilence', id) }),
  }),
}))
