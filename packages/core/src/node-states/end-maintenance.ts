import { and, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { releaseHeldAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { authorize, inTransaction, type SystemCtx, type Tx } from '../kernel/context.ts'
import { isOneOf } from '../kernel/db/rows.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { computeNodes, nodeAudit, nodeChanged, nodePermissions } from '../nodes/index.ts'
import type { JobRun } from '../runs/tables.ts'

/** Columns of a node that is not in maintenance. */
export const NO_MAINTENANCE = {
  maintenanceAt: null,
  maintenanceUntil: null,
  maintenanceReason: null,
  maintenanceById: null,
  maintenanceByName: null,
  maintenanceRunId: null,
}

/** A worker that is lost ends the maintenance of its run too; this is the end when nothing else does. */
const GRACE_SECONDS = 600

/** Reconciler, over all tenants: ends maintenance of which the end time has come. @returns the number of nodes */
export async function endExpiredMaintenance(ctx: SystemCtx): Promise<number> {
  authorize(ctx, nodePermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const nodes = await end(tx, lte(computeNodes.maintenanceUntil, sql`now()`)!)
    for (const [tenantId, some] of Map.groupBy(nodes, (node) => node.tenantId))
      await audit(tx, { ...ctx, tenantId }, nodeAudit.endMaintenance, some, { cause: 'its end time' })
    for (const { id, tenantId } of nodes) ctx.notify(nodeChanged({ id, tenantId }))
    return nodes.length
  })
}

/** All writers lock nodes in one order, so that they do not deadlock. */
const lockNodes = (tx: Tx, condition: SQL) =>
  tx.select({ id: computeNodes.id }).from(computeNodes).where(condition).orderBy(computeNodes.id).for('update')

async function end(tx: Tx, condition: SQL): Promise<{ id: string; name: string; tenantId: string }[]> {
  const due = await lockNodes(tx, condition)
  if (due.length === 0) return []
  const ids = due.map(({ id }) => id)
  const nodes = await tx
    .update(computeNodes)
    .set(NO_MAINTENANCE)
    .where(and(isOneOf(computeNodes.id, ids), condition))
    .returning({ id: computeNodes.id, name: computeNodes.name, tenantId: computeNodes.tenantId })
  await releaseHeldAlerts(tx, ids)
  return nodes
}

/**
 * Sets the nodes of a claimed run that may reboot them into maintenance, in the caller's transaction. Nodes that are in maintenance, or
 * decommissioned, stay as they are.
 * @returns the change events to send after the commit
 */
export async function startMaintenanceOfRun(
  tx: Tx,
  run: Pick<JobRun, 'id' | 'tenantId' | 'number' | 'templateName' | 'timeoutSeconds' | 'createdById' | 'createdByName'>,
  nodeIds: string[],
): Promise<ChangeEvent[]> {
  const condition = and(
    isOneOf(computeNodes.id, nodeIds),
    eq(computeNodes.tenantId, run.tenantId),
    isNull(computeNodes.maintenanceAt),
    isNull(computeNodes.decommissionedAt),
  )!
  await lockNodes(tx, condition)
  const nodes = await tx
    .update(computeNodes)
    .set({
      maintenanceAt: sql`now()`,
      maintenanceUntil: sql`now() + make_interval(secs => ${run.timeoutSeconds + GRACE_SECONDS})`,
      maintenanceReason: `The run ${run.number} (${run.templateName}) may reboot the node.`,
      maintenanceById: run.createdById,
      maintenanceByName: run.createdByName,
      maintenanceRunId: run.id,
    })
    .where(condition)
    .returning({ id: computeNodes.id })
  return nodes.map(({ id }) => nodeChanged({ id, tenantId: run.tenantId }))
}

/** Ends the maintenance that these runs have set. @returns the change events to send after the commit */
export async function endMaintenanceOfRuns(tx: Tx, runIds: string[]): Promise<ChangeEvent[]> {
  const nodes = await end(tx, isOneOf(computeNodes.maintenanceRunId, runIds))
  return nodes.map(({ id, tenantId }) => nodeChanged({ id, tenantId }))
}
