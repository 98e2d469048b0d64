import { whyNotAllowed } from '@muster/core/context'
import { schema, visibleTo } from '@muster/core/db'
import { Conflict } from '@muster/core/errors'
import { obstaclesOf, pauseQueue, resumeQueue, setRunsAtOnce } from '@muster/core/jobs'
import { foldHostlist } from '@muster/core/nodes'
import { GONE_AFTER_S } from '@muster/core/workers'
import { and, eq, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { builder } from '../builder.ts'
import type { ApiContext } from '../context.ts'
import { COMMON } from './errors.ts'
import { JobRun } from './jobs.ts'
import { loader } from './loaders.ts'

const { jobRuns, tenants, workers } = schema

type Tenant = typeof tenants.$inferSelect
const isPending = and(isNull(jobRuns.finishedAt), isNull(jobRuns.startedAt))
const isUnderWay = and(isNull(jobRuns.finishedAt), isNotNull(jobRuns.startedAt))

/** The caller's own tenant, read once for all fields of an answer. */
const tenant = loader<Tenant>(async ({ ctx }) => {
  const rows = await ctx.db.select().from(tenants).where(eq(tenants.id, ctx.tenantId))
  return new Map(rows.map((row) => [row.id, row]))
})
const ownTenant = async (context: ApiContext): Promise<Tenant> => (await tenant(context, context.ctx.tenantId))!
const count = ({ ctx }: ApiContext, which: ReturnType<typeof and>) => ctx.db.$count(jobRuns, and(visibleTo(ctx, jobRuns), which))

const QueueState = builder.objectRef<Tenant>('QueueState').implement({
  description: 'The runs of the tenant that have not begun, and whether they may.',
  fields: (t) => ({
    isPaused: t.boolean({ description: 'No run begins until it is resumed.', resolve: (queue) => queue.queuePausedAt !== null }),
    pausedAt: t.expose('queuePausedAt', { type: 'DateTime', nullable: true, description: 'Since when it is paused.' }),
    pausedByName: t.exposeString('queuePausedByName', { nullable: true, description: 'Who paused it.' }),
    pauseReason: t.exposeString('queuePauseReason', { nullable: true, description: 'Why, in the words of who paused it.' }),
    runsAtOnce: t.exposeInt('runsAtOnce', {
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
      resolve: (_queue, _args, { ctx }) => whyNotAllowed(ctx.actor, 'queue:write'),
    }),
  }),
})

/** Why a run that has not begun has not: the first reason there is, as a sentence. */
async function waitingReason(context: ApiContext, run: { id: string; isReadOnly: boolean }): Promise<string> {
  const { ctx } = context
  const own = await ownTenant(context)
  if (own.queuePausedAt) return `The queue is paused by ${own.queuePausedByName}: ${own.queuePauseReason}`
  const [first] = run.isReadOnly ? [] : ((await obstaclesOf(ctx, [run.id])).get(run.id) ?? [])
  if (first) {
    const verb = first.acquiredAt ? 'is changing' : 'is to change, and was asked for before,'
    return `The run ${first.runId} of ${first.ownerName} (${first.templateName}) ${verb} ${foldHostlist(first.hosts)}.`
  }
  if (own.runsAtOnce !== null && (await count(context, isUnderWay)) >= own.runsAtOnce)
    return `As many runs go on as may at once: ${own.runsAtOnce}.`
  const living = await ctx.db
    .select({ drainingAt: workers.drainingAt, room: sql<number>`${workers.concurrency} - ${workers.running}` })
    .from(workers)
    .where(sql`${workers.touchedAt} > now() - make_interval(secs => ${GONE_AFTER_S})`)
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

builder.queryFields((t) => ({
  queue: t.field({
    type: QueueState,
    description: 'The queue of the tenant.',
    authScopes: { authenticated: true },
    resolve: (_root, _args, context) => ownTenant(context),
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
  setRunsAtOnce: t.field({
    type: QueueState,
    description: 'Say how many runs of the tenant may go on at once, over all workers. Those under way go on.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON] },
    args: { runsAtOnce: t.arg.int({ description: '1 or more; null: as many as workers have room for.' }) },
    resolve: (_root, { runsAtOnce }, { ctx }) => setRunsAtOnce(ctx, { runsAtOnce: runsAtOnce ?? null }),
  }),
}))
