import { and, inArray, isNull, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { IdempotencyKey, idempotent, rows as storedRows } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { Ids } from '../kernel/input.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { connectBlockedReason } from '../nodes/index.ts'
import { type ComputeNode, computeNodes, LEAN_NODE, type LeanNode } from '../nodes/tables.ts'
import { findNodes } from '../selection/index.ts'
import { discoveryChanged } from './change-events.ts'
import { discoveryPermissions } from './permissions.ts'
import { discoveryQueue } from './queues.ts'
import { type DiscoveryRow, discoveries } from './tables.ts'

export const DiscoverNodesInput = z.object({
  /** Null: every READY or UNREACHABLE node that allows connections. */
  nodeIds: Ids.nullish(),
  idempotencyKey: IdempotencyKey,
})

/** Rows per statement, which takes at most 65,535 parameters. */
const CHUNK = 5000

/** Enqueues discoveries of nodes and triggers a worker. A node with a pending discovery gets no second one. */
export async function requestDiscoveries(
  tx: Tx,
  ctx: Ctx,
  nodes: Pick<ComputeNode, 'id'>[],
  reason: DiscoveryRow['reason'],
): Promise<DiscoveryRow[]> {
  if (nodes.length === 0) return []
  const ids = nodes.map((node) => node.id)
  const waiting = await tx
    .select()
    .from(discoveries)
    .where(
      and(
        visibleTo(ctx, discoveries),
        sql`${discoveries.nodeId} = any(${sql.param(ids)}::uuid[])`,
        isNull(discoveries.startedAt),
        isNull(discoveries.finishedAt),
      ),
    )
  const asked = new Map(waiting.map((row) => [row.nodeId, row]))
  const fresh = ids.filter((id) => !asked.has(id))
  for (let i = 0; i < fresh.length; i += CHUNK) {
    const rows = await tx
      .insert(discoveries)
      .values(fresh.slice(i, i + CHUNK).map((nodeId) => ({ tenantId: ctx.tenantId, nodeId, reason })))
      .returning()
    for (const row of rows) asked.set(row.nodeId, row)
  }
  const rows = ids.map((id) => asked.get(id)!)
  // Also trigger pending discoveries: a wake-up can be lost, and an extra one finds nothing to claim.
  await ctx.queue.send(
    tx,
    discoveryQueue,
    rows.map((row) => ({ id: row.id, tenantId: ctx.tenantId })),
  )
  return rows
}

/**
 * Starts a discovery of hardware, accelerators and OS of nodes.
 * @param reason what requested it
 * @returns one discovery per node, in the order given
 * @throws NotFound
 * @throws Conflict a named node is decommissioned, or its host key is not approved or changed
 */
export async function discoverNodes(
  ctx: Ctx,
  input: z.input<typeof DiscoverNodesInput> = {},
  reason: DiscoveryRow['reason'] = input.nodeIds ? 'refresh' : 'sweep',
): Promise<DiscoveryRow[]> {
  authorizeSomewhere(ctx, discoveryPermissions.start)
  const { nodeIds, idempotencyKey } = parseInput(DiscoverNodesInput, input)
  return idempotent(
    ctx,
    { verb: 'discoverNodes', key: idempotencyKey, input: nodeIds ?? null, result: storedRows(discoveries) },
    async (tx, ctx) => {
      const nodes = nodeIds ? await findNodes(ctx, nodeIds, tx) : await reachableNodes(tx, ctx)
      const ids = nodes.map(({ id }) => id)
      await authorizeNodes(tx, ctx, discoveryPermissions.start, ids, { connects: true })
      const rejected = nodes.map(connectBlockedReason).filter((why) => why !== null)
      if (rejected.length > 0)
        throw new Conflict(rejected.slice(0, 10).join(' ') + (rejected.length > 10 ? ` And ${rejected.length - 10} more.` : ''))
      const rows = await requestDiscoveries(tx, ctx, nodes, reason)
      await audit(tx, ctx, nodeAudit.discover, nodes)
      for (const row of rows) ctx.notify(discoveryChanged({ id: row.id, tenantId: ctx.tenantId }))
      return rows
    },
  )
}

async function reachableNodes(tx: Tx, ctx: Ctx): Promise<LeanNode[]> {
  const nodes = await tx
    .select(LEAN_NODE)
    .from(computeNodes)
    .where(
      and(
        visibleTo(ctx, computeNodes),
        inArray(computeNodes.status, ['READY', 'UNREACHABLE']),
        or(sql`${computeNodes.hostKey} is not null`, sql`${computeNodes.connectionType} = 'local'`),
      ),
    )
    .orderBy(computeNodes.id)
    .for('share')
  return nodes.filter((node) => connectBlockedReason(node) === null)
}
