import { and, eq, gte, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { recordBootStage } from '../boot-service/index.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { type NodeBmc, nodeBmcs } from '../nodes/tables.ts'
import { foldHostlist } from '../selection/index.ts'
import { slurmPowerSavings } from '../slurm-power/tables.ts'
import { powerRunAudit } from './audit-actions.ts'
import { powerRunChanged } from './change-events.ts'
import { powerPermissions } from './permissions.ts'
import { protectedReason } from './power-targets.ts'
import { isDisruptive, protectionsOf } from './protections.ts'
import {
  type PowerAction,
  type PowerResult,
  type PowerRun,
  type PowerRunItem,
  type PowerState,
  powerRunItems,
  powerRuns,
} from './tables.ts'

/** Another worker continues after it. Renewed while BMCs are asked. */
export const POWER_CLAIM_SECONDS = 60
const claimedUntil = sql`now() + make_interval(secs => ${POWER_CLAIM_SECONDS})`

export type ClaimedPowerRun = { run: PowerRun; items: (PowerRunItem & { bmc: NodeBmc | null })[] }
type Claim = { id: string; token: string }

/** Claims a power run for one execution. @returns null when another one has it, or it ended */
export async function claimPowerRun(ctx: Ctx, { id, token }: Claim): Promise<ClaimedPowerRun | null> {
  authorize(ctx, powerPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [run] = await tx
      .update(powerRuns)
      .set({ claimToken: token, claimedUntil, startedAt: sql`coalesce(${powerRuns.startedAt}, now())` })
      .where(
        and(
          visibleTo(ctx, powerRuns),
          eq(powerRuns.id, id),
          isNull(powerRuns.finishedAt),
          or(isNull(powerRuns.claimedUntil), lte(powerRuns.claimedUntil, sql`now()`)),
        ),
      )
      .returning()
    if (!run) return null
    const rows = await tx
      .select({ item: powerRunItems, bmc: nodeBmcs })
      .from(powerRunItems)
      .leftJoin(nodeBmcs, eq(nodeBmcs.nodeId, powerRunItems.nodeId))
      .where(and(eq(powerRunItems.runId, id), isNull(powerRunItems.result)))
      .orderBy(powerRunItems.id)
    ctx.notify(powerRunChanged(run))
    return { run, items: rows.map(({ item, bmc }) => ({ ...item, bmc })) }
  })
}

const isClaimed = (ctx: Ctx, { id, token }: Claim): SQL | undefined =>
  and(
    visibleTo(ctx, powerRuns),
    eq(powerRuns.id, id),
    eq(powerRuns.claimToken, token),
    isNull(powerRuns.finishedAt),
    gte(powerRuns.claimedUntil, sql`now()`),
  )

async function renew(tx: Tx, ctx: Ctx, claim: Claim): Promise<PowerRun | null> {
  const [run] = await tx.update(powerRuns).set({ claimedUntil }).where(isClaimed(ctx, claim)).returning()
  return run ?? null
}

/** Renews a claim. @returns null when it is lost; otherwise whether a person canceled the run */
export async function renewPowerRun(ctx: Ctx, claim: Claim): Promise<{ isCanceled: boolean } | null> {
  authorize(ctx, powerPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const run = await renew(tx, ctx, claim)
    return run && { isCanceled: run.cancelRequestedAt !== null }
  })
}

export type SendPermission = 'SEND' | 'LOST' | 'CANCELED' | { refused: string }

/**
 * Records that a command is about to be sent to the BMC of a node. Committed before the worker sends it, and recorded once: a repeated
 * execution does not send it again.
 */
export async function recordPowerCommand(
  ctx: Ctx,
  {
    itemId,
    before,
    lastReset,
    command,
    ...claim
  }: Claim & { itemId: string; before: PowerState; lastReset: string | null; command: string },
): Promise<SendPermission> {
  authorize(ctx, powerPermissions.report)
  const work = inTransaction(ctx, async (tx, ctx): Promise<SendPermission> => {
    const run = await renew(tx, ctx, claim)
    if (!run) return 'LOST'
    if (run.cancelRequestedAt) return 'CANCELED'
    const scope = and(eq(powerRunItems.runId, run.id), eq(powerRunItems.id, itemId))
    const [item] = await tx.select().from(powerRunItems).where(scope)
    if (!item?.nodeId) return { refused: 'The node was deleted.' }
    if (isDisruptive(run.action) && !run.isForced) {
      if (await isOutdated(tx, run)) return { refused: OUTDATED }
      // A job may have started since the request.
      const protection = (await protectionsOf(tx, ctx, [item.nodeId], run.slurmClusterId)).get(item.nodeId)
      if (protection) return { refused: protectedReason(item.nodeName, protection) }
    }
    const [sent] = await tx
      .update(powerRunItems)
      .set({ sentAt: sql`now()`, before, lastResetBefore: lastReset })
      .where(and(scope, isNull(powerRunItems.sentAt), isNull(powerRunItems.result)))
      .returning()
    if (!sent) return { refused: 'The command was sent before.' }
    const { id, action, reason } = run
    await audit(tx, ctx, powerRunAudit.send, { id, name: action }, { node: item.nodeName, command, before }, { reason })
    return 'SEND'
  })
  return work.catch((error: unknown) => {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error
    return { refused: 'Another power run has sent a command to this node, whose effect is not known yet. Wait for its end.' }
  })
}

const OUTDATED = 'The request of slurmctld is too old: the node may have jobs by now. slurmctld repeats it if it is still needed.'

/** Whether slurmctld no longer waits for the effect of its request: it may have started jobs on the node, which protect no node from it. */
async function isOutdated(tx: Tx, { slurmClusterId, action, createdAt }: PowerRun): Promise<boolean> {
  if (slurmClusterId === null) return false
  const timeout = action === 'OFF' ? 'suspendTimeoutSeconds' : 'resumeTimeoutSeconds'
  const seconds = sql`(${slurmPowerSavings.settings}->>${timeout})::int`
  const current = await tx
    .select({ clusterId: slurmPowerSavings.clusterId })
    .from(slurmPowerSavings)
    .where(
      and(
        eq(slurmPowerSavings.clusterId, slurmClusterId),
        sql`${createdAt}::timestamptz > now() - make_interval(secs => ${seconds})`,
      ),
    )
  return current.length === 0
}

export type PowerOutcome = { result: PowerResult; after: PowerState | null; before?: PowerState | null; message: string | null }

/** Stores the result of a node. @returns false when the worker lost its claim, and nothing was stored */
export async function recordPowerResult(
  ctx: Ctx,
  { itemId, result, before, after, message, ...claim }: Claim & PowerOutcome & { itemId: string },
): Promise<boolean> {
  authorize(ctx, powerPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const run = await renew(tx, ctx, claim)
    if (!run) return false
    const [item] = await tx
      .update(powerRunItems)
      .set({
        ...{ result, after, finishedAt: sql`now()` },
        ...(before === undefined ? {} : { before: sql`coalesce(${powerRunItems.before}, ${before})` }),
        message: message === null ? null : sanitizeForPostgres(message).slice(0, 2000),
      })
      .where(and(eq(powerRunItems.runId, run.id), eq(powerRunItems.id, itemId), isNull(powerRunItems.result)))
      .returning()
    const isStarted = STARTS.includes(run.action) && (result === 'DONE' || result === 'ACCEPTED')
    if (item?.nodeId && item.sentAt && isStarted)
      await recordBootStage(ctx, { nodeIds: [item.nodeId], stage: 'POWER_ON', at: item.sentAt })
    ctx.notify(powerRunChanged(run))
    return true
  })
}

/** Actions after which a node boots. */
const STARTS: readonly PowerAction[] = ['ON', 'RESTART', 'CYCLE']

const isProblem = (result: PowerResult | null): boolean => result !== 'DONE' && result !== 'UNCHANGED' && result !== 'ACCEPTED'

/** Ends a run. Nodes without a result got no command, because a person canceled it. */
export async function finishPowerRun(ctx: Ctx, claim: Claim): Promise<boolean> {
  authorize(ctx, powerPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const run = await renew(tx, ctx, claim)
    if (!run) return false
    const ofRun = eq(powerRunItems.runId, run.id)
    await tx
      .update(powerRunItems)
      .set({
        result: sql`case when ${powerRunItems.sentAt} is null then 'NOT_SENT' else 'NOT_VERIFIED' end`,
        message: run.canceledByName ? `Canceled by ${run.canceledByName}.` : null,
        finishedAt: sql`now()`,
      })
      .where(and(ofRun, isNull(powerRunItems.result)))
    const items = await tx.select().from(powerRunItems).where(ofRun).orderBy(powerRunItems.id)
    const problemCount = items.filter(({ result }) => isProblem(result)).length
    const [finished] = await tx
      .update(powerRuns)
      .set({ finishedAt: sql`now()`, claimedUntil: null, problemCount })
      .where(eq(powerRuns.id, run.id))
      .returning()
    const byResult = Map.groupBy(items, ({ result }) => result!)
    const results = Object.fromEntries([...byResult].map(([result, list]) => [result, foldHostlist(list.map((i) => i.nodeName))]))
    const details = { action: run.action, status: finished!.status, results }
    await audit(tx, ctx, powerRunAudit.finish, { id: run.id, name: run.action }, details, { reason: run.reason })
    ctx.notify(powerRunChanged(run))
    return true
  })
}
