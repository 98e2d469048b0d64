import { schema, visibleTo } from '@muster/core/db'
import type { Nudge } from '@muster/core/events'
import { and, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { Repeater } from 'graphql-yoga'
import { type ApiContext, forgetLoaded } from '../context.ts'

const { computeNodes, connectionTests, discoveries, jobRuns } = schema

type Watched = {
  table: PgTable & { id: PgColumn; tenantId: PgColumn }
  version: ReturnType<typeof sql>
  isOver: ReturnType<typeof sql>
}

/** How to see from a row that something about it changed, and that nothing will any more. */
const WATCHED = {
  node: { table: computeNodes, version: sql`${computeNodes.updatedAt}`, isOver: sql`false` },
  connectionTest: {
    table: connectionTests,
    version: sql`concat_ws(' ', ${connectionTests.startedAt}, jsonb_array_length(${connectionTests.stages}), ${connectionTests.finishedAt})`,
    isOver: sql`${connectionTests.finishedAt} is not null`,
  },
  discovery: {
    table: discoveries,
    version: sql`concat_ws(' ', ${discoveries.startedAt}, ${discoveries.finishedAt})`,
    isOver: sql`${discoveries.finishedAt} is not null`,
  },
  jobRun: {
    table: jobRuns,
    version: sql`concat_ws(' ', ${jobRuns.startedAt}, ${jobRuns.execAt}, ${jobRuns.cancelRequestedAt}, ${jobRuns.finishedAt}, ${jobRuns.lastSeq})`,
    isOver: sql`${jobRuns.finishedAt} is not null`,
  },
} satisfies Record<string, Watched>
export type WatchedTopic = keyof typeof WATCHED & Nudge['topic']

/** A listener also looks by itself from time to time: a nudge may get lost. */
const LOOK_MS = 5000
/** Whether a session still stands is asked at most this often. */
const ASK_MS = 10_000

/**
 * Ids of rows as they change. With `ids`: first each of them as it is now, then again with every change; ends when all of them
 * are over. Without: every row of the tenant that changes from now on.
 * Changes that come faster than they are consumed are told once.
 */
export function changes(context: ApiContext, topic: WatchedTopic, ids: string[] | null): Repeater<string> {
  const { ctx, deps } = context
  const { table, version, isOver } = WATCHED[topic] as Watched
  return new Repeater(async (push, stop) => {
    const pending = new Set<string>(ids ?? [])
    const seen = new Map<string, string>()
    const open = new Set<string>(ids ?? [])
    let wake = () => {}
    let isStopped = false
    let askedAt = Date.now()
    const look = (some: Iterable<string>) => {
      for (const id of some) pending.add(id)
      wake()
    }
    const off = [
      deps.listener.on(topic, null, (nudge) => {
        if (nudge.tenantId === ctx.tenantId && (!ids || open.has(nudge.id))) look([nudge.id])
      }),
      deps.listener.onReconnect(() => look(ids ? open : seen.keys())),
    ]
    const timer = setInterval(() => look(ids ? open : []), LOOK_MS)
    void stop.then(() => {
      isStopped = true
      wake()
    })
    try {
      while (!isStopped && (!ids || open.size > 0)) {
        if (pending.size === 0) await new Promise<void>((resolve) => (wake = resolve))
        if (isStopped) return
        if (Date.now() - askedAt > ASK_MS) {
          await context.stillSignedIn()
          askedAt = Date.now()
        }
        const asked = [...pending]
        pending.clear()
        if (asked.length === 0) continue
        const rows = await ctx.db
          .select({ id: sql<string>`${table.id}`, version: sql<string>`(${version})::text`, isOver: sql<boolean>`${isOver}` })
          .from(table)
          .where(and(visibleTo(ctx, table), sql`${table.id} = any(${sql.param(asked)}::uuid[])`))
        // A row that is not there, or not the tenant's, never comes.
        for (const id of asked) if (!rows.some((row) => row.id === id)) open.delete(id)
        for (const row of rows) {
          if (ids && seen.get(row.id) === row.version) continue
          if (ids) seen.set(row.id, row.version)
          forgetLoaded(context)
          await push(row.id)
          if (isStopped) return
          if (row.isOver) open.delete(row.id)
        }
      }
    } finally {
      clearInterval(timer)
      for (const each of off) each()
      stop()
    }
  })
}
