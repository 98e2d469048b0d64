import { visibleTo } from '@muster/core/db'
import { DomainError } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { and, desc, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { Repeater } from 'graphql-yoga'
import { type ApiContext, clearLoaderCaches } from '../../context.ts'

const { computeNodes, connectionTests, discoveries, jobRuns } = schema

/** How to see from a row when it last changed, that it changed at all, and that it will not any more. */
type Watched = { table: PgTable & { id: PgColumn; tenantId: PgColumn }; times: PgColumn[]; version: SQL; isOver: SQL }

const over = (finishedAt: PgColumn) => sql`${finishedAt} is not null`

const WATCHED = {
  node: { table: computeNodes, times: [computeNodes.updatedAt], version: sql`''`, isOver: sql`false` },
  connectionTest: {
    table: connectionTests,
    times: [connectionTests.startedAt, connectionTests.finishedAt],
    version: sql`jsonb_array_length(${connectionTests.stages})`,
    isOver: over(connectionTests.finishedAt),
  },
  discovery: {
    table: discoveries,
    times: [discoveries.startedAt, discoveries.finishedAt],
    version: sql`''`,
    isOver: over(discoveries.finishedAt),
  },
  jobRun: {
    table: jobRuns,
    times: [jobRuns.createdAt, jobRuns.startedAt, jobRuns.ansibleStartedAt, jobRuns.cancelRequestedAt, jobRuns.finishedAt],
    version: sql`${jobRuns.lastSeq}`,
    isOver: over(jobRuns.finishedAt),
  },
} satisfies Record<string, Watched>

/** A nudge may get lost, so one looks from time to time as well. */
const LOOK_MS = 5000

/** How often it is asked whether the session still stands. */
const ASK_MS = 10_000

const RETRY_MS = 500

/** After the listener was away: of a whole tenant, what changed this recently is told again. */
const AWAY = sql`interval '5 minutes'`

/**
 * Ids of rows as they change. With `ids`: first each of them as it is now, then again with every change; ends when all of them
 * are over. Without: every row of the tenant that changes from now on. Changes that come faster than they are consumed are
 * told once. What is not the tenant's is never told. A database that goes away and comes back is waited for.
 */
export function changes(context: ApiContext, topic: keyof typeof WATCHED, ids: string[] | null): Repeater<string> {
  const { ctx, deps } = context
  const { table, times, version, isOver }: Watched = WATCHED[topic]
  const changedAt = sql`greatest(${sql.join(times, sql`, `)})`
  const columns = {
    id: sql<string>`${table.id}`,
    version: sql<string>`concat_ws(' ', ${sql.join(times, sql`, `)}, ${version})`,
    isOver: sql<boolean>`${isOver}`,
  }
  const read = (which: SQL) =>
    ctx.db
      .select(columns)
      .from(table)
      .where(and(visibleTo(ctx, table), which))

  return new Repeater(async (push, stop) => {
    // Whether to tell of it even when the row looks the same: a nudge can be about something that hangs on the row.
    let pending = new Map<string, boolean>(ids?.map((id) => [id, true]))
    let wasAway = false
    const open = new Set(ids)
    const seen = new Map<string, string>()
    let isStopped = false
    let askedAt = Date.now()
    let wake = () => {}
    const look = (some: Iterable<string>, tell: boolean) => {
      for (const id of some) pending.set(id, tell || (pending.get(id) ?? false))
      wake()
    }
    const off = [
      deps.listener.on({ topic }, null, (changeEvent) => {
        if (changeEvent.tenantId === ctx.tenantId && (!ids || open.has(changeEvent.id))) look([changeEvent.id], true)
      }),
      deps.listener.onReconnect(() => {
        wasAway = !ids
        look(open, false)
      }),
    ]
    const timer = setInterval(() => look(open, false), LOOK_MS)
    void stop.then(() => {
      isStopped = true
      wake()
    })

    /** Rows among `asked`, and after an absence of the listener those that changed meanwhile; null when the database is away. */
    async function rowsOf(asked: Map<string, boolean>) {
      try {
        if (Date.now() - askedAt > ASK_MS) {
          await context.assertSignedIn()
          askedAt = Date.now()
        }
        const mine = asked.size > 0 ? await read(sql`${table.id} = any(${sql.param([...asked.keys()])}::uuid[])`) : []
        const missed = wasAway ? await read(sql`${changedAt} > now() - ${AWAY}`).orderBy(desc(table.id)).limit(1000) : []
        wasAway = false
        for (const { id } of missed) asked.set(id, true)
        return [...mine, ...missed.filter((row) => !mine.some(({ id }) => id === row.id))]
      } catch (error) {
        if (error instanceof DomainError) throw error
        ctx.log.warn({ err: error, topic }, 'cannot read what changed; trying again')
        return null
      }
    }

    try {
      while (!isStopped && (!ids || open.size > 0)) {
        if (pending.size === 0 && !wasAway) await new Promise<void>((resolve) => (wake = resolve))
        if (isStopped) return
        const asked = pending
        pending = new Map()
        const rows = await rowsOf(asked)
        if (!rows) {
          for (const [id, tell] of asked) pending.set(id, tell || (pending.get(id) ?? false))
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
          continue
        }
        // A row that is not there, or not the tenant's, never comes.
        for (const id of asked.keys()) if (!rows.some((row) => row.id === id)) open.delete(id)
        for (const row of rows) {
          if (!asked.get(row.id) && seen.get(row.id) === row.version) continue
          if (ids) seen.set(row.id, row.version)
          clearLoaderCaches(context)
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
