import { Conflict, NotFound } from '@muster/core/errors'
import { retryJobRun } from '@muster/core/runs'
import { rowId } from '../../shared/ids.ts'
import { mutation } from '../../shared/mutation.ts'
import { JobRun } from '../types.ts'
import { RetryHosts } from './enums.ts'

mutation('retryJobRun', {
  description:
    'Starts a run with the same settings on those hosts of a finished run that did not succeed. The finished run is its `parent`.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the finished run.' }),
    hosts: t.field({
      type: [RetryHosts],
      description: 'Hosts to retry, unless `nodeIds` is given; at most 3. Default: FAILED and UNREACHABLE.',
    }),
    nodeIds: t.idList({ description: 'Nodes of the finished run to retry, at most 10,000.' }),
    reason: t.string({ description: 'Why the run is retried.' }),
    includeOffline: t.boolean({ description: 'Whether the run includes nodes with an OFFLINE agent, which it otherwise skips.' }),
  }),
  payload: { run: { type: JobRun, description: 'The new run.' } },
  errors: [Conflict, NotFound],
  idempotent: true,
  resolve: async ({ id, hosts, nodeIds, ...input }, { ctx }) => ({
    run: await retryJobRun(ctx, {
      ...input,
      id: rowId('JobRun', id),
      hosts: hosts ?? undefined,
      nodeIds: nodeIds?.map((node) => rowId('ComputeNode', node)),
    }),
  }),
})
