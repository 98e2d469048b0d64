import { followJobRunEvents, type JobRunEventPage, type JobRun as JobRunRow } from '@muster/core/jobs'
import { builder } from '../builder.ts'
import { type ApiContext, forgetLoaded } from '../context.ts'
import { changes } from './changes.ts'
import { ConnectionTest } from './connection-tests.ts'
import { Discovery } from './discoveries.ts'
import { rowId } from './ids.ts'
import { JobRunEvent } from './job-events.ts'
import { JobRun } from './jobs.ts'
import { ComputeNode } from './nodes.ts'

export type Batch = JobRunEventPage & { runId: string }

const JobRunEventBatch = builder.objectRef<Batch>('JobRunEventBatch').implement({
  description: 'Some events of a log, in order and without a gap.',
  fields: (t) => ({
    events: t.expose('events', { type: [JobRunEvent], description: 'The events.' }),
    lastSeq: t.expose('lastSeq', {
      type: 'BigInt',
      description: 'Seq of the last of them: give it as `after` to continue behind it.',
    }),
    run: t.drizzleField({
      type: JobRun,
      description: 'The run as it is now.',
      async resolve(query, { runId, run }, _args, { ctx }) {
        const asked = query({ where: { tenantId: ctx.tenantId, id: runId } })
        const { columns, with: relations, extras }: { columns?: object; with?: object; extras?: object } = asked
        const isPlain = Object.keys({ ...relations, ...extras }).length === 0
        // Its own columns are read together with those of other runs that have something to say.
        const names = Object.keys(columns ?? {}) as (keyof JobRunRow)[]
        return (await (isPlain && columns ? run(names) : ctx.db.query.jobRuns.findFirst(asked))) as JobRunRow
      },
    }),
  }),
})

/** Pages of a log; a client that leaves ends the reading at once. */
function follow(context: ApiContext, id: string, after: number): AsyncIterableIterator<Batch> {
  const leaving = new AbortController()
  const batches = batchesOf(context, id, after, leaving.signal)
  return {
    next: () => batches.next(),
    // A generator that waits cannot be told to return.
    return() {
      leaving.abort()
      return batches.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function* batchesOf(context: ApiContext, id: string, after: number, signal: AbortSignal): AsyncGenerator<Batch, undefined> {
  const { ctx, deps } = context
  let askedAt = Date.now()
  const pages = followJobRunEvents({ db: ctx.db, listener: deps.listener, tenantId: ctx.tenantId }, { id, after, signal })
  for await (const page of pages) {
    if (Date.now() - askedAt > 10_000) {
      await context.stillSignedIn()
      askedAt = Date.now()
    }
    forgetLoaded(context)
    yield { ...page, runId: id }
  }
}

const idArgs = { required: true } as const

builder.subscriptionFields((t) => ({
  jobRunEvents: t.field({
    type: JobRunEventBatch,
    description:
      'The log of a run from behind `after`, live, without gaps or repeats. Ends when the run is over and everything was given.',
    authScopes: { authenticated: true },
    args: {
      id: t.arg.id({ ...idArgs, description: 'Which run.' }),
      after: t.arg({ type: 'BigInt', description: 'Seq of the last event that the caller has; left out: from the beginning.' }),
    },
    subscribe: (_root, { id, after }, context) => follow(context, rowId('JobRun', id), after ?? 0),
    resolve(batch, _args, context) {
      context.isCostKnown = true
      return batch
    },
  }),
  jobRunUpdated: t.drizzleField({
    type: JobRun,
    description:
      'A run as it is now and whenever it changes, until it is over; without an id every run of the tenant that changes.',
    authScopes: { authenticated: true },
    args: { id: t.arg.id({ description: 'Which run; left out: all.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'jobRun', id ? [rowId('JobRun', id)] : null),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.jobRuns.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
  nodeUpdated: t.drizzleField({
    type: ComputeNode,
    description: 'A node as it is now and whenever it changes; without an id every node of the tenant that changes.',
    authScopes: { authenticated: true },
    args: { id: t.arg.id({ description: 'Which node; left out: all.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'node', id ? [rowId('ComputeNode', id)] : null),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.computeNodes.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
  connectionTestUpdated: t.drizzleField({
    type: ConnectionTest,
    description: 'Connection tests, first each as it is now and then whenever one changes. Ends when all of them are over.',
    authScopes: { authenticated: true },
    args: { ids: t.arg.idList({ ...idArgs, description: 'Which tests.' }) },
    subscribe: (_root, { ids }, context) =>
      changes(
        context,
        'connectionTest',
        ids.map((id) => rowId('ConnectionTest', id)),
      ),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.connectionTests.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
  discoveryUpdated: t.drizzleField({
    type: Discovery,
    description: 'Discoveries, first each as it is now and then whenever one changes. Ends when all of them are over.',
    authScopes: { authenticated: true },
    args: { ids: t.arg.idList({ ...idArgs, description: 'Which discoveries.' }) },
    subscribe: (_root, { ids }, context) =>
      changes(
        context,
        'discovery',
        ids.map((id) => rowId('Discovery', id)),
      ),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.discoveries.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
