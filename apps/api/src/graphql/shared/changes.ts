import { visibleTo } from '@muster/core/db'
import { DomainError } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { and, desc, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { Repeater } from 'graphql-yoga'
import { type ApiContext, clearLoaderCaches } from '../../context.ts'

const {
  bmcDiscoveries,
  bootAttempts,
  bootFetches,
  bootStageTimes,
  computeNodes,
  connectionTests,
  credentialRotationHosts,
  credentialRotations,
  discoveries,
  jobRuns,
  powerRunItems,
  powerRuns,
  scheduleFirings,
  schedules,
  slurmActionItems,
  slurmActions,
  slurmClusters,
  triggerDeliveries,
  triggers,
  slurmClusterTests,
  slurmLookups,
  slurmOperationNodes,
  slurmOperations,
  slurmReadinessChecks,
} = schema

/** How to detect changes of a row: the times of its changes, a value that differs after others, and whether it is final. */
type Watched = { table: PgTable & { id: PgColumn; tenantId: PgColumn }; times: PgColumn[]; version: SQL; isFinal: SQL }

const isFinished = (finishedAt: PgColumn) => sql`${finishedAt} is not null`

const WATCHED = {
  node: { table: computeNodes, times: [computeNodes.updatedAt], version: sql`''`, isFinal: sql`false` },
  // The last boot: its end, its stages, and what the node fetched.
  nodeBoot: {
    table: computeNodes,
    times: [computeNodes.createdAt],
    version: sql`(select concat_ws(' ', a.id, a.finished_at,
      (select count(*) from ${bootStageTimes} s where s.attempt_id = a.id),
      (select max(f.last_at) from ${bootFetches} f where f.attempt_id = a.id))
      from ${bootAttempts} a where a.node_id = ${computeNodes.id} order by a.id desc limit 1)`,
    isFinal: sql`false`,
  },
  connectionTest: {
    table: connectionTests,
    times: [connectionTests.startedAt, connectionTests.finishedAt],
    version: sql`jsonb_array_length(${connectionTests.stages})`,
    isFinal: isFinished(connectionTests.finishedAt),
  },
  credentialRotation: {
    table: credentialRotations,
    times: [
      credentialRotations.createdAt,
      credentialRotations.pausedAt,
      credentialRotations.cancelRequestedAt,
      credentialRotations.switchedAt,
      credentialRotations.finishedAt,
    ],
    version: sql`(select max(${credentialRotationHosts.updatedAt}) from ${credentialRotationHosts} where ${credentialRotationHosts.rotationId} = ${credentialRotations.id})`,
    isFinal: isFinished(credentialRotations.finishedAt),
  },
  discovery: {
    table: discoveries,
    times: [discoveries.startedAt, discoveries.finishedAt],
    version: sql`''`,
    isFinal: isFinished(discoveries.finishedAt),
  },
  jobRun: {
    table: jobRuns,
    times: [jobRuns.createdAt, jobRuns.startedAt, jobRuns.ansibleStartedAt, jobRuns.cancelRequestedAt, jobRuns.finishedAt],
    version: sql`${jobRuns.lastSeq}`,
    isFinal: isFinished(jobRuns.finishedAt),
  },
  slurmOperation: {
    table: slurmOperations,
    times: [slurmOperations.createdAt, slurmOperations.startedAt, slurmOperations.cancelRequestedAt, slurmOperations.finishedAt],
    version: sql`${slurmOperations.steps}::text || (select coalesce(string_agg(${slurmOperationNodes.phase} || ${slurmOperationNodes.isFailed} || coalesce(${slurmOperationNodes.message}, ''), ',' order by ${slurmOperationNodes.id}), '') from ${slurmOperationNodes} where ${slurmOperationNodes.operationId} = ${slurmOperations.id})`,
    isFinal: isFinished(slurmOperations.finishedAt),
  },
  powerRun: {
    table: powerRuns,
    times: [powerRuns.createdAt, powerRuns.startedAt, powerRuns.cancelRequestedAt, powerRuns.finishedAt],
    version: sql`(select count(${powerRunItems.sentAt}) + count(${powerRunItems.result}) from ${powerRunItems} where ${powerRunItems.runId} = ${powerRuns.id})`,
    isFinal: isFinished(powerRuns.finishedAt),
  },
  bmcDiscovery: {
    table: bmcDiscoveries,
    times: [bmcDiscoveries.createdAt, bmcDiscoveries.startedAt, bmcDiscoveries.cancelRequestedAt, bmcDiscoveries.finishedAt],
    version: sql`(${bmcDiscoveries.probedCount} + ${bmcDiscoveries.foundCount})`,
    isFinal: isFinished(bmcDiscoveries.finishedAt),
  },
  schedule: {
    table: schedules,
    times: [schedules.updatedAt],
    version: sql`(select max(${scheduleFirings.createdAt}) from ${scheduleFirings} where ${scheduleFirings.scheduleId} = ${schedules.id})`,
    isFinal: sql`false`,
  },
  trigger: {
    table: triggers,
    times: [triggers.updatedAt],
    version: sql`(select max(${triggerDeliveries.createdAt}) from ${triggerDeliveries} where ${triggerDeliveries.triggerId} = ${triggers.id})`,
    isFinal: sql`false`,
  },
  slurmAction: {
    table: slurmActions,
    times: [slurmActions.createdAt, slurmActions.startedAt, slurmActions.finishedAt],
    version: sql`(select count(${slurmActionItems.sentAt}) + count(${slurmActionItems.result}) from ${slurmActionItems} where ${slurmActionItems.actionId} = ${slurmActions.id})`,
    isFinal: isFinished(slurmActions.finishedAt),
  },
  slurmCluster: {
    table: slurmClusters,
    times: [slurmClusters.updatedAt, slurmClusters.refreshedAt],
    version: sql`${slurmClusters.failureCount}`,
    isFinal: sql`false`,
  },
  slurmReadinessCheck: {
    table: slurmReadinessChecks,
    times: [slurmReadinessChecks.startedAt, slurmReadinessChecks.finishedAt],
    version: sql`md5(${slurmReadinessChecks.nodes}::text)`,
    isFinal: isFinished(slurmReadinessChecks.finishedAt),
  },
  slurmLookup: {
    table: slurmLookups,
    times: [slurmLookups.startedAt, slurmLookups.finishedAt],
    version: sql`''`,
    isFinal: isFinished(slurmLookups.finishedAt),
  },
  slurmClusterTest: {
    table: slurmClusterTests,
    times: [slurmClusterTests.startedAt, slurmClusterTests.finishedAt],
    version: sql`jsonb_array_length(${slurmClusterTests.queries})`,
    isFinal: isFinished(slurmClusterTests.finishedAt),
  },
} satisfies Record<string, Watched>

/** Change events can be lost, so rows are also read at this interval. */
const POLL_MS = 5000
const RETRY_MS = 500

/** After a reconnect, the rows of a tenant that changed in this period are emitted again. */
const RECONNECT_WINDOW = sql`interval '5 minutes'`

/**
 * Emits the IDs of rows when they change. With `ids`: each visible row once at the start, then at each change; ends when all rows are
 * final. Without: every row of the tenant that changes from now on. Changes that are faster than the consumer are coalesced. Reads
 * are retried while the database is unavailable.
 */
export function changes(context: ApiContext, topic: keyof typeof WATCHED, ids: string[] | null): Repeater<string> {
  const { ctx, deps } = context
  const { table, times, version, isFinal }: Watched = WATCHED[topic]
  const changedAt = sql`greatest(${sql.join(times, sql`, `)})`
  const columns = {
    id: sql<string>`${table.id}`,
    version: sql<string>`concat_ws(' ', ${sql.join(times, sql`, `)}, ${version})`,
    isFinal: sql<boolean>`${isFinal}`,
  }
  const read = (condition: SQL) =>
    ctx.db
      .select(columns)
      .from(table)
      .where(and(visibleTo(ctx, table), condition))

  return new Repeater(async (push, stop) => {
    // By ID: whether to emit even if the version is unchanged, because a change event can concern rows related to this one.
    let pending = new Map<string, boolean>(ids?.map((id) => [id, true]))
    let hasReconnected = false
    const watchedIds = new Set(ids)
    const emittedVersions = new Map<string, string>()
    let isStopped = false
    let wake = () => {}
    const enqueue = (rowIds: Iterable<string>, force: boolean) => {
      for (const id of rowIds) pending.set(id, force || (pending.get(id) ?? false))
      wake()
    }
    const stopListening = [
      deps.listener.on({ topic }, null, (changeEvent) => {
        if (changeEvent.tenantId === ctx.tenantId && (!ids || watchedIds.has(changeEvent.id))) enqueue([changeEvent.id], true)
      }),
      deps.listener.onReconnect(() => {
        hasReconnected = !ids
        enqueue(watchedIds, false)
      }),
    ]
    const timer = setInterval(() => enqueue(watchedIds, false), POLL_MS)
    void stop.then(() => {
      isStopped = true
      wake()
    })

    /** Reads the rows in `batch` and, after a reconnect, recently changed rows, which it adds to `batch`. Null when the read failed. */
    async function readRows(batch: Map<string, boolean>) {
      try {
        const rows = batch.size > 0 ? await read(sql`${table.id} = any(${sql.param([...batch.keys()])}::uuid[])`) : []
        const recent = hasReconnected
          ? await read(sql`${changedAt} > now() - ${RECONNECT_WINDOW}`).orderBy(desc(table.id)).limit(1000)
          : []
        hasReconnected = false
        for (const { id } of recent) batch.set(id, true)
        return [...rows, ...recent.filter((row) => !rows.some(({ id }) => id === row.id))]
      } catch (error) {
        if (error instanceof DomainError) throw error
        ctx.log.warn({ err: error, topic }, 'cannot read changed rows; retrying')
        return null
      }
    }

    try {
      while (!isStopped && (!ids || watchedIds.size > 0)) {
        if (pending.size === 0 && !hasReconnected) await new Promise<void>((resolve) => (wake = resolve))
        if (isStopped) return
        const batch = pending
        pending = new Map()
        const rows = await readRows(batch)
        if (!rows) {
          for (const [id, force] of batch) pending.set(id, force || (pending.get(id) ?? false))
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
          continue
        }
        // Rows that do not exist or belong to another tenant never change for this subscriber.
        for (const id of batch.keys()) if (!rows.some((row) => row.id === id)) watchedIds.delete(id)
        for (const row of rows) {
          if (!batch.get(row.id) && emittedVersions.get(row.id) === row.version) continue
          if (ids) emittedVersions.set(row.id, row.version)
          clearLoaderCaches(context)
          await push(row.id)
          if (isStopped) return
          if (row.isFinal) watchedIds.delete(row.id)
        }
      }
    } finally {
      clearInterval(timer)
      for (const each of stopListening) each()
      stop()
    }
  })
}
