import { followJobRunEvents, type JobRunEventPage, type JobRun as JobRunRow } from '@muster/core/runs'
import { builder } from '../../../builder.ts'
import { type ApiContext, forgetLoaded } from '../../../context.ts'
import { resumeCursor } from '../../../http/event-stream.ts'
import { rowId } from '../../shared/ids.ts'
import { JobRun } from '../types.ts'
import { JobRunEvent } from './types.ts'

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

builder.subscriptionFields((t) => ({
  jobRunEvents: t.field({
    type: JobRunEventBatch,
    description:
      'The log of a run from behind `after`, live, without gaps or repeats. Ends when the run is over and everything was given.',
    authScopes: { authenticated: true },
    args: {
      id: t.arg.id({ required: true, description: 'Which run.' }),
      after: t.arg({ type: 'BigInt', description: 'Seq of the last event that the caller has; left out: from the beginning.' }),
    },
    subscribe: (_root, { id, after }, context) =>
      follow(context, rowId('JobRun', id), Math.max(after ?? 0, resumeCursor(context.headers) ?? 0)),
    resolve(batch, _args, context) {
      context.isCostKnown = true
      return batch
    },
  }),
}))
