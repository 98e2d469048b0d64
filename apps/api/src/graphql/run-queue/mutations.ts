import { Conflict, NotFound } from '@muster/core/errors'
import { nodeAudit } from '@muster/core/nodes'
import { pauseQueue, queueAudit, releaseNodeLocks, resumeQueue, setMaxConcurrentRuns } from '@muster/core/run-queue'
import { ComputeNode } from '../nodes/types.ts'
import { rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { QueueState } from './types.ts'

const payload = { queue: { type: QueueState, description: 'The queue.' } }

mutation('releaseNodeLocks', {
  action: nodeAudit.releaseLock,
  description:
    'Releases the locks of nodes, for runs that are known to hang. These runs continue, and other runs may start on the nodes at the same time.',
  input: (t) => ({
    nodeIds: t.idList({ required: true, description: 'Nodes to unlock, at most 10,000.' }),
    reason: t.string({ required: true, description: 'Why the nodes are unlocked. It is recorded in the audit log.' }),
  }),
  payload: { nodes: { type: [ComputeNode], description: 'The unlocked nodes. At most 10,000.' } },
  errors: [Conflict, NotFound],
  resolve: async ({ nodeIds, reason }, { ctx }) => ({
    nodes: await releaseNodeLocks(ctx, { nodeIds: nodeIds.map((id) => rowId('ComputeNode', id)), reason }),
  }),
})

mutation('pauseQueue', {
  description: 'Pauses the queue: no pending run starts until it is resumed. Runs that have started continue.',
  input: (t) => ({
    reason: t.string({ required: true, description: 'Why the queue is paused. Waiting runs show it.' }),
  }),
  payload,
  errors: [Conflict],
  resolve: async ({ reason }, { ctx }) => ({ queue: await pauseQueue(ctx, { reason }) }),
})

mutation('resumeQueue', {
  description: 'Resumes the queue: pending runs start again.',
  payload,
  errors: [Conflict],
  resolve: async (_input, { ctx }) => ({ queue: await resumeQueue(ctx) }),
})

mutation('setMaxConcurrentRuns', {
  action: queueAudit.limit,
  description: 'Limits how many runs of the tenant execute at once, over all workers. Started runs continue.',
  input: (t) => ({
    maxConcurrentRuns: t.int({ description: 'Maximum, 1 or more; null: no limit but the capacity of the workers.' }),
  }),
  payload,
  resolve: async ({ maxConcurrentRuns }, { ctx }) => ({
    queue: await setMaxConcurrentRuns(ctx, { maxConcurrentRuns: maxConcurrentRuns ?? null }),
  }),
})
