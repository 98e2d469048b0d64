import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { releaseHeldAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { actorColumns, authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id, multilineText } from '../kernel/input.ts'
import { type ComputeNode, computeNodes, nodeAudit, nodeChanged, nodePermissions, updateBlockedReason } from '../nodes/index.ts'
import { NO_MAINTENANCE } from './end-maintenance.ts'

const MAX_DAYS = 366

export const SetNodeMaintenanceInput = z.object({
  id: Id,
  isOn: z.boolean(),
  /** Omitted: kept, or none. */
  reason: multilineText(2000).nullish(),
  /** When it ends by itself. Omitted: kept; null: a user ends it. */
  endsAt: z.date().nullish(),
})

/**
 * Starts, changes or ends maintenance of a node. Runs that include the node are refused, and its alerts send no notifications. A maintenance that a run has
 * set becomes the caller's.
 * @throws InvalidInput, NotFound, Conflict it is decommissioned
 */
export async function setNodeMaintenance(ctx: Ctx, input: z.input<typeof SetNodeMaintenanceInput>): Promise<ComputeNode> {
  authorizeSomewhere(ctx, nodePermissions.write)
  const { id, isOn, reason, endsAt } = parseInput(SetNodeMaintenanceInput, input)
  if (!isOn && (reason || endsAt)) throw new InvalidInput([{ path: 'enabled', message: 'must be true with a reason or an end' }])
  if (endsAt && endsAt.getTime() <= Date.now()) throw new InvalidInput([{ path: 'endsAt', message: 'must be in the future' }])
  if (endsAt && endsAt.getTime() - Date.now() > MAX_DAYS * 86_400_000)
    throw new InvalidInput([{ path: 'endsAt', message: `must be within ${MAX_DAYS} days` }])
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeNodes(tx, ctx, nodePermissions.write, [id])
    const [node] = await tx
      .update(computeNodes)
      .set(
        isOn
          ? {
              maintenanceAt: sql`coalesce(${computeNodes.maintenanceAt}, now())`,
              ...actorColumns(ctx, 'maintenance'),
              // That of a run ends with the run; the caller's does not.
              maintenanceUntil: endsAt === undefined ? ownValue(computeNodes.maintenanceUntil) : endsAt,
              maintenanceReason: reason === undefined ? ownValue(computeNodes.maintenanceReason) : reason?.trim() || null,
              maintenanceRunId: null,
            }
          : NO_MAINTENANCE,
      )
      .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id), isNull(computeNodes.decommissionedAt)))
      .returning()
    if (!node) throw await notFoundOrConflict(tx, ctx, computeNodes, id, 'node', (row) => updateBlockedReason(ctx.actor, row))
    await releaseHeldAlerts(tx, [id])
    const details = isOn ? { reason: node.maintenanceReason, endsAt: node.maintenanceUntil?.toISOString() ?? null } : {}
    await audit(tx, ctx, isOn ? nodeAudit.startMaintenance : nodeAudit.endMaintenance, node, details)
    ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
    return node
  })
}

const ownValue = (column: typeof computeNodes.maintenanceUntil | typeof computeNodes.maintenanceReason) =>
  sql`case when ${computeNodes.maintenanceRunId} is null then ${column} end`
