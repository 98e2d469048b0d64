import { Conflict, NotFound } from '@muster/core/errors'
import { retryJobRun } from '@muster/core/runs'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { rowId } from '../../shared/ids.ts'
import { JobRun } from '../types.ts'
import { RetryHosts } from './enums.ts'

const RetryJobRunInput = builder.inputType('RetryJobRunInput', {
  description: 'Which run to try again, and where.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which run.' }),
    which: t.field({ type: [RetryHosts], description: 'On which of its hosts, unless nodes are chosen; BOTH if left out.' }),
    nodeIds: t.idList({ description: 'On these of its nodes.' }),
    reason: t.string({ description: 'Why.' }),
    idempotencyKey: t.string({
      description: 'The same key gives the retry that was first started with it, so that trying again is safe.',
    }),
  }),
})

builder.mutationFields((t) => ({
  retryJobRun: t.field({
    type: JobRun,
    description:
      'Run the same again, as it was started, on hosts where it did not end well. The new run has the old one as its parent.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: RetryJobRunInput, required: true, description: 'What and where.' }) },
    resolve: (_root, { input: { id, which, nodeIds, ...input } }, { ctx }) =>
      retryJobRun(ctx, {
        ...input,
        id: rowId('JobRun', id),
        which: which ?? undefined,
        nodeIds: nodeIds?.map((node) => rowId('ComputeNode', node)),
      }),
  }),
}))
