import { and, eq, gte, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { requestRefresh } from '../clusters/index.ts'
import { type SlurmCluster, slurmClusters } from '../clusters/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { slurmActionAudit } from './audit-actions.ts'
import { auditedGroups } from './audited-targets.ts'
import { slurmActionChanged } from './change-events.ts'
import { slurmActionPermissions } from './permissions.ts'
import { recordDrainFailures } from './record-drain-failures.ts'
import { type SlurmActionItem, type SlurmActionRow, type SlurmItemResult, slurmActionItems, slurmActions } from './tables.ts'

/** Longer than a command may take. Another worker continues after it. */
const CLAIM_SECONDS = 120
const claimedUntil = sql`now() + make_interval(secs => ${CLAIM_SECONDS})`

export type ClaimedSlurmAction = { row: SlurmActionRow; cluster: SlurmCluster; items: SlurmActionItem[] }
type Claim = { id: string; token: string }

/** Claims an action for one execution. @returns null when another one has it, or it ended */
export async function claimSlurmAction(ctx: Ctx, { id, token }: Claim): Promise<ClaimedSlurmAction | null> {
  authorize(ctx, slurmActionPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [row] = await tx
      .update(slurmActions)
      .set({ claimToken: token, claimedUntil, startedAt: sql`coalesce(${slurmActions.startedAt}, now())` })
      .where(
        and(
          visibleTo(ctx, slurmActions),
          eq(slurmActions.id, id),
          isNull(slurmActions.finishedAt),
          or(isNull(slurmActions.claimedUntil), lte(slurmActions.claimedUntil, sql`now()`)),
        ),
      )
      .returning()
    if (!row) return null
    const [cluster] = await tx.select().from(slurmClusters).where(eq(slurmClusters.id, row.clusterId))
    const items = await tx
      .select()
      .from(slurmActionItems)
      .where(and(eq(slurmActionItems.actionId, id), isNull(slurmActionItems.result)))
      .orderBy(slurmActionItems.id)
    ctx.notify(slurmActionChanged(row))
    return { row, cluster: cluster!, items }
  })
}

const isClaimed = (ctx: Ctx, { id, token }: Claim): SQL | undefined =>
  and(
    visibleTo(ctx, slurmActions),
    eq(slurmActions.id, id),
    eq(slurmActions.claimToken, token),
    isNull(slurmActions.finishedAt),
    gte(slurmActions.claimedUntil, sql`now()`),
  )

/** Renews the claim, which locks the row. @returns null when it is lost */
async function renew(tx: Tx, ctx: Ctx, claim: Claim): Promise<SlurmActionRow | null> {
  const [row] = await tx.update(slurmActions).set({ claimedUntil }).where(isClaimed(ctx, claim)).returning()
  return row ?? null
}

/** Renews a claim while a worker reads the state. @returns false when it is lost */
export async function renewSlurmAction(ctx: Ctx, claim: Claim): Promise<boolean> {
  authorize(ctx, slurmActionPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => (await renew(tx, ctx, claim)) !== null)
}

/**
 * Records that a command is about to run, and what its targets were before. Committed before the worker sends it.
 * @returns whether the worker may: false when it lost its claim
 */
export async function recordSlurmCommand(
  ctx: Ctx,
  { command, targets, ...claim }: Claim & { command: string; targets: { target: string; before: string | null }[] },
): Promise<boolean> {
  authorize(ctx, slurmActionPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return false
    await writeItems(tx, claim.id, targets, sql`before = coalesce(i.before, s.before), sent_at = coalesce(i.sent_at, now())`)
    const [cluster] = await tx.select().from(slurmClusters).where(eq(slurmClusters.id, row.clusterId))
    await audit(
      tx,
      ctx,
      slurmActionAudit.execute,
      { id: row.id, name: cluster!.name },
      { verb: row.verb, command, before: auditedGroups(row.verb, targets) },
      { reason: row.reason },
    )
    ctx.notify(slurmActionChanged(row))
    return true
  })
}

export type SlurmItemOutcome = {
  target: string
  result: SlurmItemResult
  before: string | null
  after: string | null
  message: string | null
}

/** Stores results of targets. @returns false when the worker lost its claim, and nothing was stored */
export async function recordSlurmResults(
  ctx: Ctx,
  { outcomes, ...claim }: Claim & { outcomes: SlurmItemOutcome[] },
): Promise<boolean> {
  authorize(ctx, slurmActionPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return false
    await writeItems(
      tx,
      claim.id,
      outcomes,
      sql`before = coalesce(i.before, s.before), after = s.after, result = s.result, message = s.message`,
    )
    ctx.notify(slurmActionChanged(row))
    return true
  })
}

async function writeItems(tx: Tx, actionId: string, rows: { target: string }[], changes: SQL): Promise<void> {
  await tx.execute(sql`
    update ${slurmActionItems} i set ${changes}
    from json_to_recordset(${JSON.stringify(sanitizeForPostgres(rows))}::json)
      as s(target text, before text, after text, result text, message text)
    where i.action_id = ${actionId} and i.target = s.target and i.result is null`)
}

/**
 * Ends an action and asks for a refresh of its cluster. Targets without a result had no command, or one whose effect was not seen.
 * @param error for the operator; null when every target has a result
 */
export async function finishSlurmAction(ctx: Ctx, { error, ...claim }: Claim & { error: string | null }): Promise<boolean> {
  authorize(ctx, slurmActionPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const row = await renew(tx, ctx, claim)
    if (!row) return false
    await tx
      .update(slurmActionItems)
      .set({
        result: sql`case when ${slurmActionItems.sentAt} is null then 'NOT_SENT' else 'NOT_VERIFIED' end`,
        message: error === null ? null : sanitizeForPostgres(error),
      })
      .where(and(eq(slurmActionItems.actionId, row.id), isNull(slurmActionItems.result)))
    const counts = await tx
      .select({ result: slurmActionItems.result, count: sql<number>`count(*)::int` })
      .from(slurmActionItems)
      .where(eq(slurmActionItems.actionId, row.id))
      .groupBy(slurmActionItems.result)
    const problemCount = counts
      .filter(({ result }) => result !== 'DONE' && result !== 'UNCHANGED')
      .reduce((sum, { count }) => sum + count, 0)
    const [finished] = await tx
      .update(slurmActions)
      .set({ finishedAt: sql`now()`, claimedUntil: null, problemCount, error: error && sanitizeForPostgres(error) })
      .where(eq(slurmActions.id, row.id))
      .returning()
    const cluster = await requestRefresh(tx, ctx, row.clusterId)
    const results = await tx
      .select({
        target: slurmActionItems.target,
        result: slurmActionItems.result,
        after: slurmActionItems.after,
        message: slurmActionItems.message,
      })
      .from(slurmActionItems)
      .where(eq(slurmActionItems.actionId, row.id))
      .orderBy(sql`${slurmActionItems.result} in ('DONE', 'UNCHANGED')`, slurmActionItems.id)
    if (problemCount > 0) await recordDrainFailures(tx, ctx, row, cluster!.name, results)
    await audit(
      tx,
      ctx,
      slurmActionAudit.finish,
      { id: row.id, name: cluster!.name },
      {
        verb: row.verb,
        status: finished!.status,
        counts: Object.fromEntries(counts.map((c) => [c.result, c.count])),
        results: auditedGroups(row.verb, results),
      },
      { reason: row.reason },
    )
    ctx.notify(slurmActionChanged(row))
    return true
  })
}
