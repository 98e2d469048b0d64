import { and, eq, gte, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { slurmClusterChanged } from '../clusters/change-events.ts'
import { slurmRefreshQueue } from '../clusters/queues.ts'
import { type SlurmCluster, slurmClusters } from '../clusters/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { slurmOperationAudit } from './audit-actions.ts'
import { slurmOperationChanged } from './change-events.ts'
import { slurmOperationPermissions } from './permissions.ts'
import {
  type SlurmNodeCheck,
  type SlurmOperation,
  type SlurmOperationNode,
  type SlurmOperationStep,
  type SlurmRolloutProgress,
  type SlurmSaltJob,
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
async function renew(
  tx: Tx,
  ctx: Ctx,
  claim: SlurmOperationClaim,
  fields: SlurmOperationProgress = {},
): Promise<SlurmOperation | null> {
  const [row] = await tx
    .update(slurmOperations)
    .set({ claimedUntil, ...fields })
    .where(isClaimed(ctx, claim))
    .returning()
  return row ?? null
}

/** `error`: why the operation failed, before its steps are undone. Fields that are undefined stay. */
export type SlurmOperationProgress = { error?: string | undefined; rollout?: SlurmRolloutProgress | undefined }

/**
 * Renews a claim while a step works, and stores progress.
 * @returns the row, which shows a requested cancel; null when the claim is lost, and nothing was stored
 */
export async function renewSlurmOperation(
  ctx: Ctx,
  { error, rollout, ...claim }: SlurmOperationClaim & SlurmOperationProgress,
): Promise<SlurmOperation | null> {
  authorize(ctx, slurmOperationPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim, sanitizeForPostgres({ error, rollout }))
    if (row && error !== undefined) ctx.notify(slurmOperationChanged(row))
    return row
  })
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

/**
 * Records a job of Salt before Salt gets it, which is audited, or the end of a recorded one.
 * @param state name and pillar of the state
 * @returns all jobs; null when the worker lost its claim, and nothing was stored
 */
export async function recordSlurmSaltJob(
  ctx: Ctx,
  { job, state, ...claim }: SlurmOperationClaim & { job: SlurmSaltJob; state: { name: string; pillar: object } },
): Promise<SlurmSaltJob[] | null> {
  authorize(ctx, slurmOperationPermissions.report)
  const recorded = sanitizeForPostgres(job)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return null
    const before = row.saltJobs.some(({ key }) => key === job.key)
    const saltJobs = [...row.saltJobs.filter(({ key }) => key !== job.key), recorded]
    await tx.update(slurmOperations).set({ saltJobs }).where(eq(slurmOperations.id, row.id))
    if (!before) {
      const [cluster] = await tx.select().from(slurmClusters).where(eq(slurmClusters.id, row.clusterId))
      const minions = job.minions.map(({ minionId }) => minionId)
      const details = { kind: row.kind, jid: job.jid, state: state.name, pillar: state.pillar, minions }
      await audit(tx, ctx, slurmOperationAudit.apply_state, { id: row.id, name: cluster!.name }, details)
    }
    return saltJobs
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

/** JSON leaves out fields that are undefined; a message may be null, too. */
const withMessageFlag = (node: SlurmOperationNodeProgress) => ({ ...node, hasMessage: node.message !== undefined })

/** Stores progress of nodes with one statement. @returns false when the worker lost its claim, and nothing was stored */
export async function recordSlurmOperationNodes(
  ctx: Ctx,
  { nodes, ...claim }: SlurmOperationClaim & { nodes: SlurmOperationNodeProgress[] },
): Promise<boolean> {
  authorize(ctx, slurmOperationPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return false
    await tx.execute(sql`
      update ${slurmOperationNodes} n
      set phase = coalesce(c.phase, n.phase), is_failed = coalesce(c."isFailed", n.is_failed),
        checks = coalesce(c.checks, n.checks), message = case when c."hasMessage" then c.message else n.message end
      from jsonb_to_recordset(${JSON.stringify(sanitizeForPostgres(nodes).map(withMessageFlag))}::jsonb)
        as c(name text, phase text, "isFailed" boolean, checks jsonb, message text, "hasMessage" boolean)
      where n.operation_id = ${row.id} and n.name = c.name`)
    ctx.notify(slurmOperationChanged(row))
    return true
  })
}

/** The facts of the alert about a failed scale-out or creation: at most ten of the nodes that were left out. */
export type SlurmScaleOutEvidence = {
  operationId: string
  error: string | null
  total: number
  nodes: { name: string; detail: string | null }[]
}

const MAX_ALERT_NODES = 10

/** A failed scale-out raises the alert of its cluster; the next one that adds all its nodes resolves it. */
async function updateAlert(
  tx: Tx,
  { id, tenantId, kind, status, error }: SlurmOperation,
  { name: cluster }: SlurmCluster,
  failed: { name: string; message: string | null }[],
): Promise<ChangeEvent[]> {
  if (kind !== 'CREATE' && kind !== 'SCALE_OUT') return []
  if (status === 'SUCCEEDED') return resolveAlerts(tx, [{ tenantId, nodeId: null, cluster, kinds: ['slurm_scale_out_failed'] }])
  if (status === 'CANCELED') return []
  const nodes = failed.slice(0, MAX_ALERT_NODES).map(({ name, message }) => ({ name, detail: message }))
  const evidence: SlurmScaleOutEvidence = { operationId: id, error, total: failed.length, nodes }
  return raiseAlerts(tx, [{ tenantId, nodeId: null, cluster, kind: 'slurm_scale_out_failed', evidence }])
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
    for (const changeEvent of await updateAlert(tx, finished!, cluster!, failed)) ctx.notify(changeEvent)
    const { kind, reason, error } = row
    const details = { kind, status: finished!.status, error, failed: Object.fromEntries(failed.map((n) => [n.name, n.message])) }
    await audit(tx, ctx, slurmOperationAudit.finish, { id: row.id, name: cluster!.name }, details, { reason })
    ctx.notify(slurmOperationChanged(row))
    ctx.notify(slurmClusterChanged(cluster!))
    return finished!
  })
}
