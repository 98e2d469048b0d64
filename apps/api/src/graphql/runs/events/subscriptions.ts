import { tenantPermissions } from '@muster/core/access'
import { followJobRunEvents, type JobRunEventPage, type JobRun as JobRunRow } from '@muster/core/runs'
import { builder } from '../../../builder.ts'
import { type ApiContext, clearLoaderCaches } from '../../../context.ts'
import { resumeCursor } from '../../../http/event-stream.ts'
import { rowId } from '../../shared/ids.ts'
import { JobRun } from '../types.ts'
import { JobRunEvent } from './types.ts'

export type Batch = JobRunEventPage & { runId: string }

const JobRunEventBatch = builder.objectRef<Batch>('JobRunEventBatch').implement({
  description: 'A batch of events of a log, in order and without gaps.',
  fields: (t) => ({
    events: t.expose('events', { type: [JobRunEvent], description: 'The events, in order. At most 500.' }),
    lastSeq: t.expose('lastSeq', {
      type: 'BigInt',
      description: 'Seq of the last event of the batch. Pass it as `after` to continue.',
    }),
    run: t.drizzleField({
      type: JobRun,
      description: 'The run.',
      async resolve(query, { runId, run }, _args, { ctx }) {
        const selection = query({ where: { tenantId: ctx.tenantId, id: runId } })
        const { columns, with: relations, extras }: { columns?: object; with?: object; extras?: object } = selection
        const isPlain = Object.keys({ ...relations, ...extras }).length === 0
        // Plain columns of all runs with new events are read in one statement.
        const names = Object.keys(columns ?? {}) as (keyof JobRunRow)[]
        return (await (isPlain && columns ? run(names) : ctx.db.query.jobRuns.findFirst(selection))) as JobRunRow
      },
    }),
  }),
})

/** Emits pages of a log. Stops reading immediately when the client unsubscribes. */
function follow(context: ApiContext, id: string, after: number): AsyncIterableIterator<Batch> {
  const unsubscribed = new AbortController()
  const batches = batchesOf(context, id, after, unsubscribed.signal)
  return {
    next: () => batches.next(),
    // `return()` of a suspended async generator waits for its pending `await`, so that `await` is aborted first.
    return() {
      unsubscribed.abort()
      return batches.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

async function* batchesOf(context: ApiContext, id: string, after: number, signal: AbortSignal): AsyncGenerator<Batch, undefined> {
  const { ctx, deps } = context
  const pages = followJobRunEvents({ db: ctx.db, listener: deps.listener, tenantId: ctx.tenantId }, { id, after, signal })
  for await (const page of pages) {
    clearLoaderCaches(context)
    yield { ...page, runId: id }
  }
}

builder.subscriptionFields((t) => ({
  jobRunEvents: t.field({
    type: JobRunEventBatch,
    description:
      'Sends the events of a run after `after`, live and without gaps or repeats. Completes after the last event of the run.',
    authScopes: { permission: tenantPermissions.read },
    args: {
      id: t.arg.id({ required: true, description: 'Run ID.' }),
      after: t.arg({ type: 'BigInt', description: 'Seq of the last event that was received. Default: 0, the whole log.' }),
    },
    subscribe: (_root, { id, after }, context) =>
      follow(context, rowId('JobRun', id), Math.max(after ?? 0, resumeCursor(context.headers) ?? 0)),
    resolve(batch, _args, context) {
      context.isCostKnown = true
      return batch
    },
  }),
}))
