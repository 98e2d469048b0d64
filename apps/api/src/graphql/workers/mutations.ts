import { Conflict, NotFound } from '@muster/core/errors'
import { drainWorker, undrainWorker } from '@muster/core/workers'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { Worker } from './types.ts'

builder.mutationFields((t) => {
  const options = {
    type: Worker,
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which worker.' }) },
  }
  return {
    drainWorker: t.field({
      ...options,
      description: 'Let a worker take no more work and finish what it has. It concerns all tenants.',
      resolve: (_root, { id }, { ctx }) => drainWorker(ctx, { id }),
    }),
    undrainWorker: t.field({
      ...options,
      description: 'Let a drained worker take work again.',
      resolve: (_root, { id }, { ctx }) => undrainWorker(ctx, { id }),
    }),
  }
})
