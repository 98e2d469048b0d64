import { permissionDeniedReason } from '@muster/core/context'
import { visibleTo } from '@muster/core/db'
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
import { and, eq, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { ComputeNode } from '../nodes/types.ts'
import { JobRun, runOf } from '../runs/types.ts'
import { loader } from '../shared/loaders.ts'

const { jobRuns, tenants, workers } = schema

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

export const RunBlocker = builder.objectRef<Blocker>('RunBlocker').implement({
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

const blockers = loader<Blocker[]>(({ ctx }, runIds) => blockersOf(ctx, [...runIds]))

const locks = loader<Lock>(({ ctx }, nodeIds) => locksOf(ctx, [...nodeIds]))

builder.drizzleObjectFields(JobRun, (t) => ({
  waitingFor: t.field({
    type: [RunBlocker],
    description:
      'While it is PENDING: the runs that keep it from its nodes, those that have them first, at most 20. Empty: it waits for a worker.',
    select: { columns: { id: true, startedAt: true, finishedAt: true, isReadOnly: true } },
    resolve: async (run, _args, context) =>
      run.startedAt || run.finishedAt || run.isReadOnly ? [] : ((await blockers(context, run.id)) ?? []),
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
    resolve: async (node, _args, context) =>
      releaseLockBlockedReason(context.ctx.actor, (await locks(context, node.id)) !== undefined),
  }),
}))

type Tenant = typeof tenants.$inferSelect

const isPending = and(isNull(jobRuns.finishedAt), isNull(jobRuns.startedAt))

const isUnderWay = and(isNull(jobRuns.finishedAt), isNotNull(jobRuns.startedAt))

/** The caller's own tenant, read once for all fields of an answer. */
const tenant = loader<Tenant>(async ({ ctx }) => {
  const rows = await ctx.db.select().from(tenants).where(eq(tenants.id, ctx.tenantId))
  return new Map(rows.map((row) => [row.id, row]))
})

export const ownTenant = async (context: ApiContext): Promise<Tenant> => (await tenant(context, context.ctx.tenantId))!

const count = ({ ctx }: ApiContext, which: ReturnType<typeof and>) => ctx.db.$count(jobRuns, and(visibleTo(ctx, jobRuns), which))

export const QueueState = builder.objectRef<Tenant>('QueueState').implement({
  description: 'The runs of the tenant that have not begun, and whether they may.',
  fields: (t) => ({
    isPaused: t.boolean({ description: 'No run begins until it is resumed.', resolve: (queue) => queue.queuePausedAt !== null }),
    pausedAt: t.expose('queuePausedAt', { type: 'DateTime', nullable: true, description: 'Since when it is paused.' }),
    pausedByName: t.exposeString('queuePausedByName', { nullable: true, description: 'Who paused it.' }),
    pauseReason: t.exposeString('queuePauseReason', { nullable: true, description: 'Why, in the words of who paused it.' }),
    maxConcurrentRuns: t.exposeInt('maxConcurrentRuns', {
      nullable: true,
      description: 'How many runs may go on at once, over all workers; null: as many as workers have room for.',
    }),
    pending: t.int({
      description: 'How many runs have not begun.',
      resolve: (_queue, _args, context) => count(context, isPending),
    }),
    running: t.int({ description: 'How many runs go on.', resolve: (_queue, _args, context) => count(context, isUnderWay) }),
    changeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not pause, resume or limit it; null: allowed.',
      resolve: (_queue, _args, { ctx }) => permissionDeniedReason(ctx.actor, queuePermissions.write),
    }),
  }),
})

/** Why a run that has not begun has not: the first reason there is, as a sentence. */
async function waitingReason(context: ApiContext, run: { id: string; isReadOnly: boolean }): Promise<string> {
  const { ctx } = context
  const own = await ownTenant(context)
  if (own.queuePausedAt) return `The queue is paused by ${own.queuePausedByName}: ${own.queuePauseReason}`
  const [first] = run.isReadOnly ? [] : ((await blockersOf(ctx, [run.id])).get(run.id) ?? [])
  if (first) {
    const verb = first.acquiredAt ? 'is changing' : 'is to change, and was asked for before,'
    return `The run ${first.runId} of ${first.ownerName} (${first.templateName}) ${verb} ${foldHostlist(first.hosts)}.`
  }
  if (own.maxConcurrentRuns !== null && (await count(context, isUnderWay)) >= own.maxConcurrentRuns)
    return `As many runs go on as may at once: ${own.maxConcurrentRuns}.`
  const living = await ctx.db
    .select({ drainingAt: workers.drainingAt, room: sql<number>`${workers.concurrency} - ${workers.running}` })
    .from(workers)
    .where(sql`${workers.lastSeenAt} > now() - make_interval(secs => ${WORKER_GONE_AFTER_SECONDS})`)
  if (living.length === 0) return 'No worker is there; start one.'
  const open = living.filter((worker) => worker.drainingAt === null)
  if (open.length === 0) return 'All workers are drained; undrain one, or start another.'
  return open.every((worker) => worker.room <= 0)
    ? 'All workers are busy; it begins when one has room.'
    : 'A worker takes it in a moment.'
}

builder.drizzleObjectFields(JobRun, (t) => ({
  queuePosition: t.int({
    nullable: true,
    description: 'Its place among the runs of the tenant that have not begun, from 1; null: it has begun, or is over.',
    select: { columns: { id: true, startedAt: true, finishedAt: true } },
    resolve: (run, _args, context) =>
      run.startedAt || run.finishedAt ? null : count(context, and(isPending, lte(jobRuns.id, run.id))),
  }),
  waitingReason: t.string({
    nullable: true,
    description: 'Why it has not begun, as a sentence; null: it has, or is over.',
    select: { columns: { id: true, startedAt: true, finishedAt: true, isReadOnly: true } },
    resolve: (run, _args, context) => (run.startedAt || run.finishedAt ? null : waitingReason(context, run)),
  }),
}))
