import { and, eq, ne, or } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
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

/** @throws Conflict another cluster of the tenant has one of these nodes as its controller or backup */
export async function assertOwnControllers(tx: Tx, ctx: Ctx, controllers: Controllers, id?: string): Promise<void> {
  const ids = [controllers.controllerNodeId, controllers.backupNodeId].filter((one) => typeof one === 'string')
  const { controllerNodeId, backupNodeId, name } = slurmClusters
  const [other] = await tx
    .select({ name })
    .from(slurmClusters)
    .where(
      and(
        visibleTo(ctx, slurmClusters),
        id ? ne(slurmClusters.id, id) : undefined,
        or(isOneOf(controllerNodeId, ids), isOneOf(backupNodeId, ids)),
      ),
    )
  if (other) throw new Conflict(`The cluster ${other.name} has this controller. A controller belongs to one cluster.`)
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
