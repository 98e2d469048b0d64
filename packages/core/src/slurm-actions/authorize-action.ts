import { targetKind } from '@muster/slurm/commands'
import { and, eq } from 'drizzle-orm'
import { authorizeTargets, deniedTargets, type PartitionedTarget } from '../clusters/index.ts'
import { type SlurmCluster, slurmNodes } from '../clusters/tables.ts'
import { type Ctx, permissionDeniedReason, type Tx } from '../kernel/context.ts'
import { isOneOf } from '../kernel/db/rows.ts'
import { Forbidden, InvalidInput } from '../kernel/errors.ts'
import { expandHostlist } from '../selection/index.ts'
import { isSelected, type SlurmActionRequest } from './input.ts'
import { slurmVerbPermission } from './permissions.ts'
import type { SlurmTarget } from './targets.ts'

/** A target that the caller may not change. */
export type DeniedTarget = { target: string; reason: string }

/**
 * Checks which targets the caller may change, by their partitions at the last refresh. Targets that the request names are all or nothing;
 * of those that it finds by other conditions, the others are left out.
 * @throws Forbidden
 */
export async function permittedTargets(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  cluster: SlurmCluster,
  request: SlurmActionRequest,
  targets: SlurmTarget[],
): Promise<{ targets: SlurmTarget[]; denied: DeniedTarget[] }> {
  const permission = slurmVerbPermission(request.verb)
  if (permissionDeniedReason(ctx.actor, permission) === null) return { targets, denied: [] }
  if (targetKind(request.verb) === 'reservation') {
    authorizeTargets(ctx, permission, cluster, await nodesOfReservation(db, cluster, request))
    return { targets, denied: [] }
  }
  if (isSelected(request)) {
    authorizeTargets(ctx, permission, cluster, targets)
    return { targets, denied: [] }
  }
  const denied = deniedTargets(ctx, permission, cluster, targets)
  const names = new Set(denied.map(({ target }) => target))
  const permitted = targets.filter(({ target }) => !names.has(target))
  if (permitted.length === 0) throw new Forbidden(`${denied[0]!.target}: ${denied[0]!.reason}`)
  return { targets: permitted, denied }
}

/** The nodes that a reservation takes or took: those of the request, and those that it has now unless it is new. */
async function nodesOfReservation(
  db: Tx | Ctx['db'],
  cluster: SlurmCluster,
  { verb, reservation }: SlurmActionRequest,
): Promise<PartitionedTarget[]> {
  const { name, hostlist } = reservation!
  const before = verb === 'CREATE_RESERVATION' ? null : cluster.reservations.find((one) => one.name === name)
  const names = [...new Set([...expanded(hostlist), ...expanded(before?.nodes)])]
  const isUnknown = names.length === 0 || (verb !== 'CREATE_RESERVATION' && !before?.nodes)
  if (isUnknown) return [{ target: name, partitions: [] }]
  const rows = await db
    .select({ name: slurmNodes.name, partitions: slurmNodes.partitions })
    .from(slurmNodes)
    .where(and(eq(slurmNodes.clusterId, cluster.id), isOneOf(slurmNodes.name, names, 'text')))
  const byName = new Map(rows.map((row) => [row.name, row.partitions]))
  return names.map((target) => ({ target, partitions: byName.get(target) ?? [] }))
}

/** A hostlist that cannot be read names a node of no known partition. */
function expanded(hostlist: string | null | undefined): string[] {
  try {
    return expandHostlist(hostlist ?? '')
  } catch (error) {
    if (error instanceof InvalidInput) return [hostlist!]
    throw error
  }
}
