import { type Actor, type Ctx, permissionDeniedReason } from '../kernel/context.ts'
import { Forbidden } from '../kernel/errors.ts'
import { listedNames } from '../kernel/names.ts'
import type { GrantedCluster, Permission } from '../kernel/permissions.ts'
import type { SlurmCluster } from './tables.ts'

type Named = Pick<SlurmCluster, 'id' | 'name'>

/** What a verb changes on a cluster. Without partitions, as Muster knows them, it needs the whole cluster. */
export type PartitionedTarget = { target: string; partitions: readonly string[] }

/** What the caller holds of a cluster through grants. */
type Held = { isWhole: boolean; partitions: Set<string> }

function heldOf(actor: Actor, permission: Permission, { id }: Named): Held {
  const grants = 'grants' in actor && permission.isPerCluster ? actor.grants : []
  const own = grants.flatMap(({ permissions, cluster }): GrantedCluster[] =>
    cluster?.id === id && permissions.has(permission.name) ? [cluster] : [],
  )
  return {
    isWhole: own.some(({ partitions }) => partitions === null),
    partitions: new Set(own.flatMap(({ partitions }) => partitions ?? [])),
  }
}

const ASK = 'Ask an administrator for a grant.'
const partitionsText = (names: ReadonlySet<string>): string =>
  `the ${names.size === 1 ? 'partition' : 'partitions'} ${listedNames([...names].sort())}`

function outsideReason(actor: Actor, permission: Permission, { name }: Named): string {
  const isGranted = 'grants' in actor && actor.grants.some(({ permissions }) => permissions.has(permission.name))
  return isGranted
    ? `Your grants give the permission ${permission.name} for other clusters than ${name}. ${ASK}`
    : permissionDeniedReason(actor, permission)!
}

/** Why `actor` does not hold `permission` for the whole cluster; null when it does, in the tenant or through a grant. */
export function clusterDeniedReason(actor: Actor, permission: Permission, cluster: Named): string | null {
  if (permissionDeniedReason(actor, permission) === null) return null
  const { isWhole, partitions } = heldOf(actor, permission, cluster)
  if (isWhole) return null
  if (partitions.size === 0) return outsideReason(actor, permission, cluster)
  return `Your grants give the permission ${permission.name} only for ${partitionsText(partitions)} of the cluster ${cluster.name}, and this concerns the whole cluster. ${ASK}`
}

/** Why `actor` holds `permission` for no partition of the cluster; null when it holds it for one. */
export function clusterDeniedEverywhereReason(actor: Actor, permission: Permission, cluster: Named): string | null {
  const denied = clusterDeniedReason(actor, permission, cluster)
  return denied !== null && heldOf(actor, permission, cluster).partitions.size > 0 ? null : denied
}

/** Checks that the caller holds `permission` for the whole cluster. @throws Forbidden */
export function authorizeCluster(ctx: Pick<Ctx, 'actor'>, permission: Permission, cluster: Named): void {
  const denied = clusterDeniedReason(ctx.actor, permission, cluster)
  if (denied !== null) throw new Forbidden(denied)
}

/**
 * The targets for which the caller does not hold `permission`, with the reasons. A target in several partitions needs all of them:
 * what changes it changes all.
 */
export function deniedTargets(
  { actor }: Pick<Ctx, 'actor'>,
  permission: Permission,
  cluster: Named,
  targets: readonly PartitionedTarget[],
): { target: string; reason: string }[] {
  const denied = clusterDeniedReason(actor, permission, cluster)
  if (denied === null) return []
  const held = heldOf(actor, permission, cluster).partitions
  if (held.size === 0) return targets.map(({ target }) => ({ target, reason: denied }))
  return targets.flatMap(({ target, partitions }) => {
    const outside = new Set(partitions.filter((name) => !held.has(name)))
    if (partitions.length > 0 && outside.size === 0) return []
    const where = partitions.length > 0 ? `It belongs to ${partitionsText(outside)}` : 'Its partitions are not known'
    return [
      {
        target,
        reason: `${where}. Your grants give the permission ${permission.name} only for ${partitionsText(held)} of the cluster ${cluster.name}. ${ASK}`,
      },
    ]
  })
}

/** Checks that the caller holds `permission` for all targets. @throws Forbidden names those outside */
export function authorizeTargets(
  ctx: Pick<Ctx, 'actor'>,
  permission: Permission,
  cluster: Named,
  targets: readonly PartitionedTarget[],
): void {
  const reason = clusterDeniedEverywhereReason(ctx.actor, permission, cluster)
  if (reason !== null) throw new Forbidden(reason)
  const denied = deniedTargets(ctx, permission, cluster, targets)
  if (denied.length > 0) throw new Forbidden(`${listedNames(denied.map(({ target }) => target))}: ${denied[0]!.reason}`)
}
