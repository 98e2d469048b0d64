import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Discovery } from '@muster/discovery'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { audit, changeOf } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { type ComputeNode, computeNodes } from '../nodes/tables.ts'
import { applyDiscovery } from './apply-discovery.ts'
import { discoveryChanged } from './change-events.ts'
import { discoveryPermissions } from './permissions.ts'
import { type DiscoveryRow, discoveries, discoveryEvidence } from './tables.ts'

/** Number of snapshots per node. */
const KEPT = 50

export type DiscoveryOutcome = {
  id: string
  /** The probe's result; when it is missing, `error` has the reason. */
  result?: Discovery
  /** The probe's raw output; also stored when it could not be parsed. */
  evidence?: Uint8Array
  error?: string
  durationMs: number
  /** Whether the node did not answer. */
  unreachable?: boolean
}

/** Ends a discovery and applies its result to the node's columns and accelerators. @returns null when it had already ended */
export async function finishDiscovery(ctx: Ctx, outcome: DiscoveryOutcome): Promise<DiscoveryRow | null> {
  authorize(ctx, discoveryPermissions.report)
  const result = outcome.result && sanitizeForPostgres(outcome.result)
  const error = result ? null : sanitizeForPostgres(outcome.error ?? 'The probe returned no result. Read its raw output.')
  const evidence = outcome.evidence && (await promisify(gzip)(outcome.evidence))
  return inTransaction(ctx, async (tx, ctx) => {
    const [row] = await tx
      .update(discoveries)
      .set({
        result: result ?? null,
        error,
        durationMs: Math.round(outcome.durationMs),
        startedAt: sql`coalesce(${discoveries.startedAt}, now())`,
        finishedAt: sql`now()`,
      })
      .where(and(visibleTo(ctx, discoveries), eq(discoveries.id, outcome.id), isNull(discoveries.finishedAt)))
      .returning()
    if (!row) return null
    ctx.notify(discoveryChanged({ id: row.id, tenantId: ctx.tenantId }))
    const node = await persistDiscovery(tx, ctx, row, evidence)
    if (!node) return row
    if (outcome.unreachable && !result && (node.hostKey === null || node.offeredHostKey === null))
      await tx
        .update(computeNodes)
        .set({ unreachableSince: sql`coalesce(${computeNodes.unreachableSince}, now())`, unreachableReason: error })
        .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, node.id)))
    ctx.notify(nodeChanged({ id: node.id, tenantId: ctx.tenantId }))
    return row
  })
}

/**
 * Stores the result of a finished discovery: its evidence, the node's new state, and at most KEPT snapshots.
 * @returns the locked node as it was before; null when it was decommissioned meanwhile
 */
export async function persistDiscovery(
  tx: Tx,
  ctx: Ctx,
  row: DiscoveryRow,
  evidence: Buffer | undefined,
): Promise<ComputeNode | null> {
  if (evidence) await tx.insert(discoveryEvidence).values({ discoveryId: row.id, gzip: evidence })
  const newest = tx
    .select({ id: discoveries.id })
    .from(discoveries)
    .where(eq(discoveries.nodeId, row.nodeId))
    .orderBy(sql`${discoveries.id} desc`)
    .limit(KEPT)
  await tx
    .delete(discoveries)
    .where(
      and(
        visibleTo(ctx, discoveries),
        eq(discoveries.nodeId, row.nodeId),
        sql`${discoveries.finishedAt} is not null`,
        sql`${discoveries.id} not in ${newest}`,
      ),
    )
  const [node] = await tx
    .select()
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, row.nodeId), isNull(computeNodes.decommissionedAt)))
    .for('no key update')
  if (!node) return null
  if (row.result) await applyDiscovery(tx, ctx, node, row.result)
  if (row.result && node.bootId !== null && row.result.host.bootId !== null && row.result.host.bootId !== node.bootId)
    await audit(
      tx,
      ctx,
      nodeAudit.rebooted,
      node,
      {},
      { change: changeOf(computeNodes, node, { bootId: row.result.host.bootId }) },
    )
  return node
}
