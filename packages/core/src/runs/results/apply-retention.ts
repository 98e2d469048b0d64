import { and, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { type Tenant, tenants } from '../../access/tables.ts'
import type { ArtifactStore } from '../../artifacts/index.ts'
import type { SystemCtx } from '../../kernel/context.ts'
import { authorize } from '../../kernel/context.ts'
import { isOneOf } from '../../kernel/db/rows.ts'
import { jobRunChanged } from '../change-events.ts'
import { retentionPermissions } from '../permissions.ts'
import { jobArtifacts, jobRunEvents, jobRuns, runSecrets } from '../tables.ts'

const RUNS_AT_ONCE = 50
const EVENTS_AT_ONCE = 5000
const FILES_AT_ONCE = 200

type Counts = { logs: number; artifacts: number; runs: number }

/**
 * Reconciler, over all tenants. Removes logs, artifacts and runs that exceed the tenant's retention, in small transactions to
 * keep locks short. A run without its log keeps its row and hosts, and records when the log was removed. Files in another
 * artifact store stay, and so do their runs.
 */
export async function applyRetention(ctx: SystemCtx, store: ArtifactStore): Promise<Counts> {
  authorize(ctx, retentionPermissions.apply)
  const counts: Counts = { logs: 0, artifacts: 0, runs: 0 }
  for (const tenant of await ctx.db.select().from(tenants).orderBy(tenants.id)) {
    if (tenant.runRetentionDays !== null) counts.runs += await removeExpiredRuns(ctx, store, tenant, tenant.runRetentionDays)
    if (tenant.artifactRetentionDays !== null)
      counts.artifacts += await removeFiles(
        ctx,
        store,
        and(ofTenant(jobArtifacts.tenantId, tenant), endedBefore(tenant.artifactRetentionDays))!,
      )
    if (tenant.logRetentionDays !== null) counts.logs += await removeLogs(ctx, tenant, tenant.logRetentionDays)
  }
  return counts
}

const ofTenant = (column: AnyPgColumn, { id }: Tenant): SQL => eq(column, id)
const olderThan = (days: number): SQL => sql`${jobRuns.finishedAt} < now() - make_interval(days => ${days})`
/** Condition on an artifact. */
const endedBefore = (days: number): SQL =>
  sql`exists (select from ${jobRuns} where ${jobRuns.id} = ${jobArtifacts.jobRunId} and ${olderThan(days)})`

async function removeLogs({ db, notify }: SystemCtx, tenant: Tenant, days: number): Promise<number> {
  let removed = 0
  for (;;) {
    // Includes logs with an interrupted removal.
    const hasEvents = sql`exists (select from ${jobRunEvents} where ${jobRunEvents.jobRunId} = ${jobRuns.id})`
    const ids = (
      await db
        .select({ id: jobRuns.id })
        .from(jobRuns)
        .where(and(ofTenant(jobRuns.tenantId, tenant), olderThan(days), or(isNull(jobRuns.logRemovedAt), hasEvents)))
        .limit(RUNS_AT_ONCE)
    ).map((run) => run.id)
    if (ids.length === 0) return removed
    // Mark first, so that no reader takes a partial log for the complete one.
    const marked = await db
      .update(jobRuns)
      .set({ logRemovedAt: sql`now()` })
      .where(and(isOneOf(jobRuns.id, ids), isNull(jobRuns.logRemovedAt)))
      .returning({ id: jobRuns.id, tenantId: jobRuns.tenantId })
    for (const run of marked) notify(jobRunChanged(run))
    await removeEvents(db, ids)
    removed += marked.length
  }
}

async function removeEvents(db: SystemCtx['db'], runIds: string[]): Promise<void> {
  for (;;) {
    const { rowCount } = await db.execute(sql`
      delete from ${jobRunEvents} where ctid = any(array(
        select ctid from ${jobRunEvents} where ${isOneOf(jobRunEvents.jobRunId, runIds)} limit ${EVENTS_AT_ONCE}))`)
    if ((rowCount ?? 0) < EVENTS_AT_ONCE) return
  }
}

async function removeFiles({ db }: SystemCtx, store: ArtifactStore, which: SQL): Promise<number> {
  let removed = 0
  for (;;) {
    const files = await db
      .select({ id: jobArtifacts.id, key: jobArtifacts.key })
      .from(jobArtifacts)
      .where(and(which, eq(jobArtifacts.store, store.name), isNull(jobArtifacts.removedAt)))
      .limit(FILES_AT_ONCE)
    if (files.length === 0) return removed
    // Delete the file first. A row without its file is retried; a file without a row would never be deleted.
    await store.remove(files.map((file) => file.key))
    await db
      .update(jobArtifacts)
      .set({ removedAt: sql`now()` })
      .where(
        inArray(
          jobArtifacts.id,
          files.map((file) => file.id),
        ),
      )
    removed += files.length
  }
}

async function removeExpiredRuns(ctx: SystemCtx, store: ArtifactStore, tenant: Tenant, days: number): Promise<number> {
  await removeFiles(ctx, store, and(ofTenant(jobArtifacts.tenantId, tenant), endedBefore(days))!)
  const keepsFiles = sql`exists (select from ${jobArtifacts} where ${jobArtifacts.jobRunId} = ${jobRuns.id} and ${jobArtifacts.removedAt} is null)`
  return removeRuns(
    ctx,
    and(ofTenant(jobRuns.tenantId, tenant), isNotNull(jobRuns.finishedAt), olderThan(days), sql`not ${keepsFiles}`)!,
  )
}

/** Removes all runs of a tenant, and their files in this store. None may be active. */
export async function removeAllRuns(ctx: SystemCtx, store: ArtifactStore, tenant: Tenant): Promise<void> {
  authorize(ctx, retentionPermissions.apply)
  await removeFiles(ctx, store, ofTenant(jobArtifacts.tenantId, tenant))
  await removeRuns(ctx, ofTenant(jobRuns.tenantId, tenant))
}

async function removeRuns({ db }: SystemCtx, which: SQL): Promise<number> {
  let removed = 0
  for (;;) {
    const runs = await db.select({ id: jobRuns.id, secretsId: jobRuns.secretsId }).from(jobRuns).where(which).limit(RUNS_AT_ONCE)
    if (runs.length === 0) return removed
    const ids = runs.map((run) => run.id)
    await removeEvents(db, ids)
    await db.transaction(async (tx) => {
      await tx.delete(jobRuns).where(isOneOf(jobRuns.id, ids))
      // A run and its retries share one row of secrets.
      const secrets = runs.flatMap((run) => run.secretsId ?? [])
      const isUsed = sql`exists (select from ${jobRuns} where ${jobRuns.secretsId} = ${runSecrets.id})`
      await tx.delete(runSecrets).where(and(isOneOf(runSecrets.id, secrets), sql`not ${isUsed}`))
    })
    removed += ids.length
  }
}
