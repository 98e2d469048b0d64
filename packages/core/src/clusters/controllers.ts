import { and, eq, ne } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput } from '../kernel/errors.ts'
import { connectBlockedReason } from '../nodes/index.ts'
import { findNodes } from '../selection/index.ts'
import { slurmClusters } from './tables.ts'

type Controllers = { controllerNodeId: string; backupNodeId?: string | null | undefined }

/**
 * Checks that Muster may connect to the controllers of a cluster.
 * @throws NotFound; Conflict a node is decommissioned or accepts no connections; InvalidInput both are the same node
 */
export async function checkControllers(tx: Tx, ctx: Ctx, { controllerNodeId, backupNodeId }: Controllers): Promise<void> {
  if (backupNodeId === controllerNodeId)
    throw new InvalidInput([{ path: 'backupNodeId', message: 'must be another node than the controller' }])
  const nodes = await findNodes(ctx, [controllerNodeId, ...(backupNodeId ? [backupNodeId] : [])], tx)
  const reasons = nodes.flatMap((node) => connectBlockedReason(node) ?? [])
  if (reasons.length > 0) throw new Conflict(reasons.join(' '))
}

/** The error of a cluster whose name or controller another one has. */
export async function clusterConflict(
  tx: Tx,
  ctx: Ctx,
  { name, controllerNodeId }: { name?: string | undefined; controllerNodeId?: string | undefined },
  id?: string,
): Promise<Conflict> {
  const others = and(visibleTo(ctx, slurmClusters), id ? ne(slurmClusters.id, id) : undefined)
  const [same] = controllerNodeId
    ? await tx
        .select({ name: slurmClusters.name })
        .from(slurmClusters)
        .where(and(others, eq(slurmClusters.controllerNodeId, controllerNodeId)))
    : []
  return new Conflict(
    same
      ? `The cluster ${same.name} has this controller. A controller belongs to one cluster.`
      : `There is already a cluster named ${name}. Choose another name.`,
  )
}
