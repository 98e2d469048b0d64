import { Conflict, NotFound } from '@muster/core/errors'
import { cancelSlurmOperation } from '@muster/core/slurm-operations'
import { rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { SlurmOperation } from './types.ts'

mutation('cancelSlurmOperation', {
  description: 'Stops an operation on a Slurm cluster after its current command, and undoes it.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the operation.' }) }),
  payload: { slurmOperation: { type: SlurmOperation, description: 'The operation.' } },
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({ slurmOperation: await cancelSlurmOperation(ctx, { id: rowId('SlurmOperation', id) }) }),
})
