import { isDeepStrictEqual } from 'node:util'
import { type Actor, deniedEverywhereReason, permissionDeniedReason } from '../kernel/context.ts'
import { isReserved } from './names.ts'
import { variablePermissions } from './permissions.ts'
import type { Vars } from './tables.ts'

/** Why `actor` may not change the variables of a scope, including secrets; null when allowed. */
export const setVarsBlockedReason = (actor: Actor): string | null => deniedEverywhereReason(actor, variablePermissions.write)

/**
 * Why `actor` may not change these secrets of the group of a managed Slurm cluster; null when allowed, and when the group has no such
 * cluster.
 */
export function clusterSecretsBlockedReason(actor: Actor, changed: string[], cluster: string | null): string | null {
  if (cluster === null || actor.kind === 'worker' || changed.length === 0) return null
  return `The nodes of the managed Slurm cluster ${cluster} have the secret ${changed.join(', ')}, and new ones need the same. Release or remove the cluster first.`
}

/** Why `actor` may not make this change; null when allowed. Only admins may set or remove Ansible's own variables. */
export function reservedVarsBlockedReason(actor: Actor, before: Vars, after: Vars): string | null {
  const denied = permissionDeniedReason(actor, variablePermissions.writeReserved)
  if (!denied) return null
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => isReserved(name) && !isDeepStrictEqual(before[name], after[name]),
  )
  return changed.length === 0 ? null : `Changing ${changed.join(', ')}, which Ansible reads: ${denied}`
}
