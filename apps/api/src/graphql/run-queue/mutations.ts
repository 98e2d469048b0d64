import { Conflict, NotFound } from '@muster/core/errors'
import { pauseQueue, releaseNodeLocks, resumeQueue, setMaxConcurrentRuns } from '@muster/core/run-queue'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { QueueState, ReleasedNodes } from './types.ts'

builder.mutationFields((t) => ({
  releaseNodeLocks: t.field({
    type: ReleasedNodes,
    description:
      'Take nodes away from the runs that are changing them. Those runs go on; the next may begin beside them. For runs that are known to hang.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: {
      nodeIds: t.arg.idList({ required: true, description: 'Which nodes.' }),
      reason: t.arg.string({ required: true, description: 'Why; it is kept.' }),
    },
    resolve: async (_root, { nodeIds, reason }, { ctx }) => ({
      nodes: await releaseNodeLocks(ctx, { nodeIds: nodeIds.map((id) => rowId('ComputeNode', id)), reason }),
    }),
  }),
}))

builder.mutationFields((t) => ({
  pauseQueue: t.field({
    type: QueueState,
    description: 'Let no run begin until the queue is resumed. Runs under way go on; new ones wait, and say why.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict] },
    args: { reason: t.arg.string({ required: true, description: 'Why; whoever waits reads it.' }) },
    resolve: (_root, { reason }, { ctx }) => pauseQueue(ctx, { reason }),
  }),
  resumeQueue: t.field({
    type: QueueState,
    description: 'Let runs begin again.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict] },
    resolve: (_root, _args, { ctx }) => resumeQueue(ctx),
  }),
  setMaxConcurrentRuns: t.field({
    type: QueueState,
    description: 'Say how many runs of the tenant may go on at once, over all workers. Those under way go on.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON] },
    args: { maxConcurrentRuns: t.arg.int({ description: '1 or more; null: as many as workers have room for.' }) },
    resolve: (_root, { maxConcurrentRuns }, { ctx }) =>
      setMaxConcurrentRuns(ctx, { maxConcurrentRuns: maxConcurrentRuns ?? null }),
  }),
}))
