import { and, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { applyStateTransitions } from '../agents/index.ts'
import { ALERT_KINDS, resolveAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { authorizeSomewhere, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { isOneOf, notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import {
  type ComputeNode,
  computeNodes,
  decommissionBlockedReason,
  lockNodes,
  nodeAudit,
  nodeChanged,
  nodePermissions,
  noUnfinishedRun,
  unfinishedRunOf,
} from '../nodes/index.ts'
import { NO_MAINTENANCE } from './end-maintenance.ts'

/**
 * Decommissions a node. It keeps its row, facts and history, and nothing connects to it. Its agent is deregistered, which revokes the
 * agent's keys, and its alerts are resolved.
 * @throws NotFound
 * @throws Conflict it is decommissioned already, or an unfinished run targets it
 */
export async function decommissionNode(ctx: Ctx, input: z.input<typeof IdInput>): Promise<ComputeNode> {
  authorizeSomewhere(ctx, nodePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [node] = await retireNodes(tx, ctx, [id])
    return node!
  })
}

/** Decommissions nodes, or none of them. @throws NotFound, Forbidden, Conflict */
export async function retireNodes(tx: Tx, ctx: Ctx, ids: string[]): Promise<ComputeNode[]> {
  await authorizeNodes(tx, ctx, nodePermissions.write, ids)
  await lockNodes(tx, ctx, ids)
  const nodes = await tx
    .update(computeNodes)
    .set({ ...NO_MAINTENANCE, decommissionedAt: sql`now()` })
    .where(
      and(
        visibleTo(ctx, computeNodes),
        isOneOf(computeNodes.id, ids),
        isNull(computeNodes.decommissionedAt),
        noUnfinishedRun(computeNodes.id),
      ),
    )
    .returning()
  const done = new Set(nodes.map(({ id }) => id))
  const missing = ids.find((id) => !done.has(id))
  if (missing) {
    const run = await unfinishedRunOf(tx, missing)
    throw await notFoundOrConflict(tx, ctx, computeNodes, missing, 'node', (row) =>
      decommissionBlockedReason(ctx.actor, row, run),
    )
  }
  const { changeEvents } = await applyStateTransitions(tx, ids)
  const resolved = await resolveAlerts(
    tx,
    ids.map((nodeId) => ({ tenantId: ctx.tenantId, nodeId, kinds: ALERT_KINDS })),
  )
  await audit(tx, ctx, nodeAudit.decommission, nodes)
  for (const changeEvent of [...changeEvents, ...resolved]) ctx.notify(changeEvent)
  for (const id of ids) ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
  return nodes
}
