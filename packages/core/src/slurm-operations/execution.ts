import { and, eq, gte, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import { slurmRefreshQueue } from '../clusters/queues.ts'
import { type SlurmCluster, slurmClusters } from '../clusters/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { slurmOperationAudit } from './audit-actions.ts'
import { slurmOperationChanged } from './change-events.ts'
import { slurmOperationPermissions } from './permissions.ts'
import {
  type SlurmNodeCheck,
  type SlurmOperation,
  type SlurmOperationNode,
  type SlurmOperationStep,
  type SlurmRolloutProgress,
  slurmOperationNodes,
  slurmOperations,
} from './tables.ts'

/** The worker renews a claim every 10 s. Another worker continues after it expires. */
const CLAIM_SECONDS = 60
const claimedUntil = sql`now() + make_interval(secs => ${CLAIM_SECONDS})`

export type SlurmOperationClaim = { id: string; token: string }
export type ClaimedSlurmOperation = { row: SlurmOperation; cluster: SlurmCluster; nodes: SlurmOperationNode[] }

/** Claims an operation for one execution. @returns null when another one has it, or it ended */
export async function claimSlurmOperation(ctx: Ctx, { id, token }: SlurmOperationClaim): Promise<ClaimedSlurmOperation | null> {
  authorize(ctx, slurmOperationPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [row] = await tx
      .update(slurmOperations)
      .set({ claimToken: token, claimedUntil, startedAt: sql`coalesce(${slurmOperations.startedAt}, now())` })
      .where(
        and(
          visibleTo(ctx, slurmOperations),
          eq(slurmOperations.id, id),
          isNull(slurmOperations.finishedAt),
          or(isNull(slurmOperations.claimedUntil), lte(slurmOperations.claimedUntil, sql`now()`)),
        ),
      )
      .returning()
    if (!row) return null
    const [cluster] = await tx.select().from(slurmClusters).where(eq(slurmClusters.id, row.clusterId))
    const nodes = await tx
      .select()
      .from(slurmOperationNodes)
      .where(eq(slurmOperationNodes.operationId, id))
      .orderBy(slurmOperationNodes.id)
    ctx.notify(slurmOperationChanged(row))
    return { row, cluster: cluster!, nodes }
  })
}

const isClaimed = (ctx: Ctx, { id, token }: SlurmOperationClaim): SQL | undefined =>
  and(
    visibleTo(ctx, slurmOperations),
    eq(slurmOperations.id, id),
    eq(slurmOperations.claimToken, token),
    isNull(slurmOperations.finishedAt),
    gte(slurmOperations.claimedUntil, sql`now()`),
  )

/** Renews the claim, which locks the row. @returns null when it is lost */
async function renew(tx: Tx, ctx: Ctx, claim: SlurmOperationClaim): Promise<SlurmOperation | null> {
  const [row] = await tx.update(slurmOperations).set({ claimedUntil }).where(isClaimed(ctx, claim)).returning()
  return row ?? null
}

/** Renews a claim while a step works. @returns the row, which shows a requested cancel; null when the claim is lost */
export async function renewSlurmOperation(ctx: Ctx, claim: SlurmOperationClaim): Promise<SlurmOperation | null> {
  authorize(ctx, slurmOperationPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => renew(tx, ctx, claim))
}

/** Lets another worker continue at once, when this one stops. */
export async function releaseSlurmOperation(ctx: Ctx, claim: SlurmOperationClaim): Promise<void> {
  authorize(ctx, slurmOperationPermissions.report)
  await inTransaction(ctx, async (tx, ctx) => {
    await tx.update(slurmOperations).set({ claimedUntil: sql`now()` }).where(isClaimed(ctx, claim))
  })
}

/** `runId` and `message` stay when undefined. */
export type SlurmStepProgress = Pick<SlurmOperationStep, 'name' | 'state'> & {
  runId?: string | undefined
  message?: string | undefined
}

/**
 * Records the start, the progress or the end of a step.
 * @returns all steps; null when the worker lost its claim, and nothing was stored
 */
export async function recordSlurmStep(
  ctx: Ctx,
  { step, ...claim }: SlurmOperationClaim & { step: SlurmStepProgress },
): Promise<SlurmOperationStep[] | null> {
  authorize(ctx, slurmOperationPermissions.report)
  const { name, state, runId, message } = sanitizeForPostgres(step)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return null
    const before = row.steps.find((one) => one.name === name)
    const now = new Date().toISOString()
    const after: SlurmOperationStep = {
      name,
      state,
      startedAt: before?.startedAt ?? now,
      finishedAt: state === 'RUNNING' ? null : now,
      runId: runId ?? before?.runId ?? null,
      message: message ?? before?.message ?? null,
    }
    const steps = before ? row.steps.map((one) => (one === before ? after : one)) : [...row.steps, after]
    await tx.update(slurmOperations).set({ steps, step: name }).where(eq(slurmOperations.id, row.id))
    if (!before) {
      const [cluster] = await tx.select().from(slurmClusters).where(eq(slurmClusters.id, row.clusterId))
      await audit(tx, ctx, slurmOperationAudit.step, { id: row.id, name: cluster!.name }, { kind: row.kind, step: name })
    }
    ctx.notify(slurmOperationChanged(row))
    return steps
  })
}

/** Fields that are undefined stay. */
export type SlurmOperationNodeProgress = {
  name: string
  phase?: string | undefined
  isFailed?: boolean | undefined
  message?: string | null | undefined
  checks?: SlurmNodeCheck[] | undefined
}

/** Stores progress of nodes. @returns false when the worker lost its claim, and nothing was stored */
export async function recordSlurmOperationNodes(
  ctx: Ctx,
  { nodes, ...claim }: SlurmOperationClaim & { nodes: SlurmOperationNodeProgress[] },
): Promise<boolean> {
  authorize(ctx, slurmOperationPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return false
    for (const { name, ...changes } of sanitizeForPostgres(nodes))
      await tx
        .update(slurmOperationNodes)
        .set(changes)
        .where(and(eq(slurmOperationNodes.operationId, row.id), eq(slurmOperationNodes.name, name)))
    ctx.notify(slurmOperationChanged(row))
    return true
  })
}

/** Records why the operation failed, before its steps are undone. @returns false when the worker lost its claim */
export async function recordSlurmOperationFailure(
  ctx: Ctx,
  { error, ...claim }: SlurmOperationClaim & { error: string },
): Promise<boolean> {
  authorize(ctx, slurmOperationPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return false
    await tx
      .update(slurmOperations)
      .set({ error: sanitizeForPostgres(error) })
      .where(eq(slurmOperations.id, row.id))
    ctx.notify(slurmOperationChanged(row))
    return true
  })
}

/** Stores the progress of a rollout. @returns false when the worker lost its claim, and nothing was stored */
export async function recordSlurmRolloutProgress(
  ctx: Ctx,
  { rollout, ...claim }: SlurmOperationClaim & { rollout: SlurmRolloutProgress },
): Promise<boolean> {
  authorize(ctx, slurmOperationPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return false
    await tx
      .update(slurmOperations)
      .set({ rollout: sanitizeForPostgres(rollout) })
      .where(eq(slurmOperations.id, row.id))
    return true
  })
}

/** Ends an operation and asks for a refresh of its cluster. @returns the row; null when the worker lost its claim */
export async function finishSlurmOperation(ctx: Ctx, claim: SlurmOperationClaim): Promise<SlurmOperation | null> {
  authorize(ctx, slurmOperationPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return null
    const failed = await tx
      .select({ name: slurmOperationNodes.name, message: slurmOperationNodes.message })
      .from(slurmOperationNodes)
      .where(and(eq(slurmOperationNodes.operationId, row.id), eq(slurmOperationNodes.isFailed, true)))
      .orderBy(slurmOperationNodes.id)
    const [finished] = await tx
      .update(slurmOperations)
      .set({ finishedAt: sql`now()`, claimedUntil: null, problemCount: failed.length })
      .where(eq(slurmOperations.id, row.id))
      .returning()
    const [cluster] = await tx
      .update(slurmClusters)
      .set({ nextRefreshAt: sql`now()`, settingsReadAt: null })
      .where(eq(slurmClusters.id, row.clusterId))
      .returning()
    await ctx.queue.send(tx, slurmRefreshQueue, [cluster!])
    const { kind, reason, error } = row
    const details = { kind, status: finished!.status, error, failed: Object.fromEntries(failed.map((n) => [n.name, n.message])) }
    await audit(tx, ctx, slurmOperationAudit.finish, { id: row.id, name: cluster!.name }, details, { reason })
    ctx.notify(slurmOperationChanged(row))
    ctx.notify(slurmClusterChanged(cluster!))
    return finished!
  })
}
