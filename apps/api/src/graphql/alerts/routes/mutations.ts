import { createAlertRoute, deleteAlertRoute, testAlertRoute, updateAlertRoute } from '@muster/core/alerts'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../../builder.ts'
import { Deleted } from '../../shared/deleted.ts'
import { COMMON } from '../../shared/errors.ts'
import { globalId, rowId } from '../../shared/ids.ts'
import { AlertMatcherInput } from '../silences/types.ts'
import { AlertRouteKind } from './enums.ts'
import { AlertDelivery, AlertRoute, settings } from './types.ts'

const CreateAlertRouteInput = builder.inputType('CreateAlertRouteInput', {
  description: 'A way for alerts to make.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name, unique in the tenant.' }),
    kind: t.field({ type: AlertRouteKind, required: true, description: 'What it is.' }),
    matcher: t.field({
      type: AlertMatcherInput,
      description: 'Which alerts; left out: warnings and critical ones; empty: all.',
    }),
    ...settings(t),
  }),
})

const UpdateAlertRouteInput = builder.inputType('UpdateAlertRouteInput', {
  description: 'What to change of a way for alerts; what is left out stays as it is, null takes away.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which route.' }),
    name: t.string({ description: 'Its name, unique in the tenant.' }),
    matcher: t.field({ type: AlertMatcherInput, description: 'Which alerts; it takes the place of the former one as a whole.' }),
    ...settings(t),
  }),
})

builder.mutationFields((t) => {
  const one = { id: t.arg.id({ required: true, description: 'Which route.' }) }
  return {
    createAlertRoute: t.field({
      type: AlertRoute,
      description: 'Make a way on which alerts reach people.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, Conflict] },
      args: { input: t.arg({ type: CreateAlertRouteInput, required: true, description: 'Which.' }) },
      resolve: (_root, { input }, { ctx, deps }) => createAlertRoute(ctx, input, deps.alertTargets),
    }),
    updateAlertRoute: t.field({
      type: AlertRoute,
      description: 'Change a way for alerts. What waits for it is tried again at once.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, Conflict, NotFound] },
      args: { input: t.arg({ type: UpdateAlertRouteInput, required: true, description: 'What to change.' }) },
      resolve: (_root, { input }, { ctx, deps }) =>
        // Null where a field cannot be empty is for the verb to refuse.
        updateAlertRoute(
          ctx,
          { ...input, id: rowId('AlertRoute', input.id) } as Parameters<typeof updateAlertRoute>[1],
          deps.alertTargets,
        ),
    }),
    deleteAlertRoute: t.field({
      type: Deleted,
      description: 'Forget a way for alerts, with what still waits for it.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, NotFound] },
      args: one,
      resolve: async (_root, { id }, { ctx }) => {
        const deleted = await deleteAlertRoute(ctx, { id: rowId('AlertRoute', id) })
        return { id: globalId('AlertRoute', deleted.id) }
      },
    }),
    testAlertRoute: t.field({
      type: AlertDelivery,
      description:
        'Send a test on a route, also on one that is switched off. A worker tries it once; the delivery says how it went.',
      authScopes: { authenticated: true },
      errors: { types: [...COMMON, NotFound] },
      args: one,
      resolve: (_root, { id }, { ctx }) => testAlertRoute(ctx, { id: rowId('AlertRoute', id) }),
    }),
  }
})
