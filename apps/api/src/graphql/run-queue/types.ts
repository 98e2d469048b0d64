import { permissionDeniedReason } from '@muster/core/context'
import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import {
  type Blocker,
  blockersOf,
  type NodeLock as Lock,
  locksOf,
  queuePermissions,
  releaseLockBlockedReason,
} from '@muster/core/run-queue'
import { foldHostlist } from '@muster/core/selection'
import { WORKER_GONE_AFTER_SECONDS } from '@muster/core/workers'
import { createContextCache } from '@pothos/core'
import { and, eq, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { Actor, actorOf } from '../access/people.ts'
import { ComputeNode } from '../nodes/types.ts'
import { JobRun, runOf } from '../runs/types.ts'
import { loader } from '../shared/loaders.ts'

const { jobRuns, tenants, workers } = schema

const NodeLock = builder.objectRef<Lock>('NodeLock').implement({
  description: 'Lock of a node, held by a run that changes it. Other runs that change the node wait until it is released.',
  fields: (t) => ({
    run: t.field({
      type: JobRun,
      description: 'The run that holds the lock.',
      resolve: ({ runId }) => runOf(runId),
    }),
    acquiredAt: t.expose('acquiredAt', { type: 'DateTime', description: 'When the lock was acquired.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When the lock expires unless the worker of the run renews it, which it does every few seconds.',
    }),
  }),
})

export const RunBlocker = builder.objectRef<Blocker>('RunBlocker').implement({
  description: 'A run for which another run waits.',
  fields: (t) => ({
    run: t.field({
      type: JobRun,
      description: 'The run that is waited for.',
      resolve: ({ runId }) => runOf(runId),
    }),
    count: t.int({ description: 'Number of common hosts.', resolve: ({ hosts }) => hosts.length }),
    hostlist: t.string({
      description: 'Hostlist of the common hosts: `gpu[001-064]`.',
      resolve: ({ hosts }) => foldHostlist(hosts),
    }),
    acquiredAt: t.expose('acquiredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the run locked them; null when it waits itself and is ahead in the queue.',
    }),
  }),
})

const blockersOfRuns = loader<Blocker[]>(({ ctx }, runIds) => blockersOf(ctx, [...runIds]))

/** Read-only runs take no locks, so they have no blockers. */
const blockers = async (context: ApiContext, run: { id: string; isReadOnly: boolean }): Promise<Blocker[]> =>
  run.isReadOnly ? [] : ((await blockersOfRuns(context, run.id)) ?? [])

const locks = loader<Lock>(({ ctx }, nodeIds) => locksOf(ctx, [...nodeIds]))

builder.drizzleObjectFields(JobRun, (t) => ({
  waitingFor: t.field({
    type: [RunBlocker],
    description:
      'Runs that hold or wait for locks of the nodes of a pending run, holders first. At most 20. Empty when it waits for a worker.',
    select: { columns: { id: true, startedAt: true, finishedAt: true, isReadOnly: true } },
    resolve: (run, _args, context) => (run.startedAt || run.finishedAt ? [] : blockers(context, run)),
  }),
}))

builder.drizzleObjectFields(ComputeNode, (t) => ({
  lock: t.field({
    type: NodeLock,
    nullable: true,
    description: 'Lock of the node; null when no run holds it.',
    select: { columns: { id: true } },
    resolve: async (node, _args, context) => (await locks(context, node.id)) ?? null,
  }),
  releaseLockBlockedReason: t.string({
    nullable: true,
    description: 'Why the caller cannot release the lock of the node; null when allowed.',
    select: { columns: { id: true } },
    resolve: async (node, _args, context) =>
      releaseLockBlockedReason(context.ctx.actor, (await locks(context, node.id)) !== undefined),
  }),
}))

type Tenant = typeof tenants.$inferSelect

const isPending = and(isNull(jobRuns.finishedAt), isNull(jobRuns.startedAt))

const isUnderWay = and(isNull(jobRuns.finishedAt), isNotNull(jobRuns.startedAt))

/** The tenant of the caller, read once per request. */
const tenant = loader<Tenant>(async ({ ctx }) => {
  const rows = await ctx.db.select().from(tenants).where(eq(tenants.id, ctx.tenantId))
  return new Map(rows.map((row) => [row.id, row]))
})

export const ownTenant = async (context: ApiContext): Promise<Tenant> => (await tenant(context, context.ctx.tenantId))!

const count = ({ ctx }: ApiContext, which: ReturnType<typeof and>) => ctx.db.$count(jobRuns, and(visibleTo(ctx, jobRuns), which))

const runningCount = createContextCache(async (context: ApiContext) => count(context, isUnderWay))

/** Positions of pending runs in the queue of the tenant, from 1. */
const positions = loader<number>(async ({ ctx }, runIds) => {
  const queue = ctx.db
    .select({ id: jobRuns.id, position: sql<number>`row_number() over (order by ${jobRuns.id})::int`.as('position') })
    .from(jobRuns)
    .where(and(visibleTo(ctx, jobRuns), isPending, lte(jobRuns.id, runIds.toSorted().at(-1)!)))
    .as('queue')
  const rows = await ctx.db
    .select()
    .from(queue)
    .where(isOneOf(queue.id, [...runIds]))
  return new Map(rows.map(({ id, position }) => [id, position]))
})

const livingWorkers = createContextCache(async ({ ctx }: ApiContext) =>
  ctx.db
    .select({ drainedAt: workers.drainedAt, room: sql<number>`${workers.concurrency} - ${workers.running}` })
    .from(workers)
    .where(sql`${workers.lastSeenAt} > now() - make_interval(secs => ${WORKER_GONE_AFTER_SECONDS})`),
)

export const QueueState = builder.objectRef<Tenant>('QueueState').implement({
  description: 'State of the queue of pending runs of the tenant.',
  fields: (t) => ({
    isPaused: t.boolean({
      description: 'Whether the queue is paused: no pending run starts.',
      resolve: (queue) => queue.queuePausedAt !== null,
    }),
    pausedAt: t.expose('queuePausedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the queue was paused; null when it is not.',
    }),
    pausedBy: t.field({
      type: Actor,
      nullable: true,
      description: 'Actor that paused the queue; null when it is not paused.',
      resolve: (queue) => actorOf(queue, 'queuePaused'),
    }),
    pauseReason: t.exposeString('queuePauseReason', {
      nullable: true,
      description: 'Why the queue was paused; null when it is not.',
    }),
    maxConcurrentRuns: t.exposeInt('maxConcurrentRuns', {
      nullable: true,
      description: 'Maximum number of concurrent runs over all workers; null: the capacity of the workers.',
    }),
    pendingCount: t.int({
      description: 'Number of runs that have not started.',
      resolve: (_queue, _args, context) => count(context, isPending),
    }),
    runningCount: t.int({
      description: 'Number of runs that have started and not ended.',
      resolve: (_queue, _args, context) => runningCount(context),
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot pause or resume the queue; null when allowed.',
      resolve: (_queue, _args, { ctx }) => permissionDeniedReason(ctx.actor, queuePermissions.write),
    }),
    setMaxConcurrentRunsBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot set the maximum number of concurrent runs; null when allowed.',
      resolve: (_queue, _args, { ctx }) => permissionDeniedReason(ctx.actor, queuePermissions.limit),
    }),
  }),
})

/** Why a pending run has not started: the first reason that applies. */
async function waitingReason(context: ApiContext, run: { id: string; isReadOnly: boolean }): Promise<string> {
  const own = await ownTenant(context)
  if (own.queuePausedAt) return `The queue is paused by ${own.queuePausedByName}: ${own.queuePauseReason}`
  const [first] = await blockers(context, run)
  if (first) {
    const verb = first.acquiredAt ? 'has locked' : 'is ahead in the queue for'
    return `Run ${first.number} of ${first.ownerName} (${first.templateName}) ${verb} ${foldHostlist(first.hosts)}.`
  }
  if (own.maxConcurrentRuns !== null && (await runningCount(context)) >= own.maxConcurrentRuns)
    return `The limit of ${own.maxConcurrentRuns} concurrent runs is reached. The run starts when another one ends.`
  const living = await livingWorkers(context)
  if (living.length === 0) return 'No worker is running. Start one.'
  const open = living.filter((worker) => worker.drainedAt === null)
  if (open.length === 0) return 'All workers are drained. Undrain one or start another.'
  return open.every((worker) => worker.room <= 0)
    ? 'All workers are busy. The run starts when one has capacity.'
    : 'A worker is about to start the run.'
}

builder.drizzleObjectFields(JobRun, (t) => ({
  queuePosition: t.int({
    nullable: true,
    description: 'Position in the queue of the tenant, from 1; null when the run has started or ended.',
    select: { columns: { id: true, startedAt: true, finishedAt: true } },
    resolve: async (run, _args, context) =>
      run.startedAt || run.finishedAt ? null : ((await positions(context, run.id)) ?? null),
  }),
  waitingReason: t.string({
    nullable: true,
    description: 'Why the run has not started; null when it has started or ended.',
    select: { columns: { id: true, startedAt: true, finishedAt: true, isReadOnly: true } },
    resolve: (run, _args, context) => (run.startedAt || run.finishedAt ? null : waitingReason(context, run)),
  }),
}))
