import { Conflict, NotFound } from '@muster/core/errors'
import { importNodes, nodeAudit } from '@muster/core/nodes'
import { mutation } from '../../shared/mutation.ts'
import { importFields } from '../inputs.ts'
import { NodeImportReport, toVerbInput } from './types.ts'

mutation('importNodes', {
  action: nodeAudit.add,
  description: 'Adds nodes from a list, CSV table or Ansible inventory. Valid rows are added even if others are invalid.',
  input: importFields,
  idempotent: true,
  payload: { report: { type: NodeImportReport, description: 'Result of each row.' } },
  errors: [Conflict, NotFound],
  resolve: async (input, { ctx }) => ({ report: await importNodes(ctx, toVerbInput(input)) }),
})
