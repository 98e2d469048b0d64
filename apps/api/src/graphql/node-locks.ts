import { Conflict, NotFound } from '@muster/core/errors'
import {
  type NodeLock as Lock,
  locksOf,
  type Obstacle,
  obstaclesOf,
  releaseNodeLocks,
  whyNotReleaseLock,
} from '@muster/core/jobs'
import { foldHostlist } from '@muster/core/nodes'
import { builder } from '../builder.ts'
import { COMMON } from './errors.ts'
import { rowId } from './ids.ts'
import { JobRun, runOf } from './jobs.ts'
import { loader } from './loaders.ts'
import { ComputeNode } from './nodes.ts'

const NodeLock = builder.objectRef<Lock>('NodeLock').implement({
  description: 'A node that a run is changing: no other run that changes it begins before that one has ended.',
  fields: (t) => ({
    run: t.field({
      type: JobRun,
      description: 'The run that has it.',
      resolve: ({ runId }) => runOf(runId),
    }),
    ownerName: t.exposeString('ownerName', { description: 'Who started that run.' }),
    acquiredAt: t.expose('acquiredAt', { type: 'DateTime', description: 'Since when it has the node.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it loses the node unless its worker shows that it is alive, which happens every few seconds.',
    }),
  }),
})

export const RunObstacle = builder.objectRef<Obstacle>('RunObstacle').implement({
  description: 'A run that another one waits for.',
  fields: (t) => ({
    run: t.field({
      type: JobRun,
      description: 'The run that is waited for.',
      resolve: ({ runId }) => runOf(runId),
    }),
    ownerName: t.exposeString('ownerName', { description: 'Who started it.' }),
    count: t.int({ description: 'On how many hosts.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({ description: 'Which hosts, folded: `gpu[001-064]`.', resolve: ({ hosts }) => foldHostlist(hosts) }),
    acquiredAt: t.expose('acquiredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it has them; null: it waits itself, and was asked for before.',
    }),
  }),
})

const obstacles = loader<Obstacle[]>(({ ctx }, runIds) => obstaclesOf(ctx, [...runIds]))
const locks = loader<Lock>(({ ctx }, nodeIds) => locksOf(ctx, [...nodeIds]))

builder.drizzleObjectFields(JobRun, (t) => ({
  waitingFor: t.field({
    type: [RunObstacle],
    description:
      'While it is PENDING: the runs that keep it from its nodes, those that have them first, at most 20. Empty: it waits for a worker.',
    select: { columns: { id: true, startedAt: true, finishedAt: true, isReadOnly: true } },
    resolve: async (run, _args, context) =>
      run.startedAt || run.finishedAt || run.isReadOnly ? [] : ((await obstacles(context, run.id)) ?? []),
  }),
}))

builder.drizzleObjectFields(ComputeNode, (t) => ({
  lock: t.field({
    type: NodeLock,
    nullable: true,
    description: 'The run that is changing it; null: none is.',
    select: { columns: { id: true } },
    resolve: async (node, _args, context) => (await locks(context, node.id)) ?? null,
  }),
  releaseLockBlockedReason: t.string({
    nullable: true,
    description: 'Why the caller may not take it away from the run that is changing it; null: allowed.',
    select: { columns: { id: true } },
    resolve: async (node, _args, context) => whyNotReleaseLock(context.ctx.actor, (await locks(context, node.id)) !== undefined),
  }),
}))

const ReleasedNodes = builder.objectRef<{ nodes: Awaited<ReturnType<typeof releaseNodeLocks>> }>('ReleasedNodes').implement({
  description: 'Nodes that were taken away from the runs that had them.',
  fields: (t) => ({ nodes: t.expose('nodes', { type: [ComputeNode], description: 'The nodes.' }) }),
})

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
