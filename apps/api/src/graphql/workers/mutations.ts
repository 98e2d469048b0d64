import { Conflict, NotFound } from '@muster/core/errors'
import { drainWorker, undrainWorker } from '@muster/core/workers'
import { rowId } from '../shared/ids.ts'
import { type InputFields, mutation } from '../shared/mutation.ts'
import { Worker } from './types.ts'

const input = (t: InputFields) => ({ id: t.id({ required: true, description: 'Worker ID.' }) })
const payload = { worker: { type: Worker, description: 'The worker.' } }

mutation('drainWorker', {
  description: 'Drains a worker: it finishes its runs and claims no more. This affects all tenants.',
  input,
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({ worker: await drainWorker(ctx, { id: rowId('Worker', id) }) }),
})

mutation('undrainWorker', {
  description: 'Undrains a worker: it claims runs again.',
  input,
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({ worker: await undrainWorker(ctx, { id: rowId('Worker', id) }) }),
})
