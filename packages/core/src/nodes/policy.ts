import type { Actor } from '../kernel/context.ts'
import { deniedEverywhereReason, permissionDeniedReason } from '../kernel/context.ts'
import { fingerprint } from './host-key.ts'
import { nodePermissions } from './permissions.ts'
import type { ComputeNode } from './tables.ts'

type Keys = Pick<ComputeNode, 'hostKey' | 'offeredHostKey'>

function whileRunning(node: Named, runningIn: string | null): string | null {
  return runningIn && `The node ${node.name} is a target of the unfinished run ${runningIn}; wait for its end or cancel it.`
}

type Named = Pick<ComputeNode, 'name'>

/** Why `actor` may not change this node's fields; null when allowed. */
export function updateBlockedReason(actor: Actor, node: Named & Pick<ComputeNode, 'decommissionedAt'>): string | null {
  const denied = deniedEverywhereReason(actor, nodePermissions.write)
  if (denied) return `Changing a node: ${denied}`
  if (node.decommissionedAt) return `The node ${node.name} is decommissioned; recommission it first.`
  return null
}

/** Why `actor` may not purge this node; null when allowed. `runningIn` is the unfinished run that targets it. */
export function purgeBlockedReason(
  actor: Actor,
  node: Named & Pick<ComputeNode, 'decommissionedAt' | 'status'>,
  runningIn: string | null = null,
): string | null {
  const denied = permissionDeniedReason(actor, nodePermissions.purge)
  if (denied) return `Purging a node: ${denied}`
  if (!node.decommissionedAt) return `The node ${node.name} is ${node.status}; decommission it first.`
  return whileRunning(node, runningIn)
}

/** Why `actor` may not decommission this node; null when allowed. */
export function decommissionBlockedReason(
  actor: Actor,
  node: Named & Pick<ComputeNode, 'decommissionedAt'>,
  runningIn: string | null = null,
): string | null {
  const denied = deniedEverywhereReason(actor, nodePermissions.write)
  if (denied) return `Decommissioning a node: ${denied}`
  if (node.decommissionedAt) return `The node ${node.name} is already decommissioned.`
  return whileRunning(node, runningIn)
}

/** The node offers another host key than the pinned one. */
export const isHostKeyChanged = (node: Keys): boolean =>
  node.hostKey !== null && node.offeredHostKey !== null && node.offeredHostKey !== node.hostKey

/** Status message of a node with a changed host key. */
export const hostKeyAlarm = (node: { hostKey: string; offeredHostKey: string }): string =>
  `The host key changed: the node offers ${fingerprint(node.offeredHostKey)}, approved is ${fingerprint(node.hostKey)}. ` +
  'Approve the new key if you know why, or find out who answers at that address.'

/** Why only connection tests may connect to this node; null when it is not restricted. */
export function connectBlockedReason(
  node: Named & Keys & Pick<ComputeNode, 'decommissionedAt' | 'connectionType'>,
): string | null {
  if (node.decommissionedAt) return `The node ${node.name} is decommissioned; recommission it first.`
  if (node.connectionType === 'local') return null
  if (!node.hostKey) return `The host key of the node ${node.name} is not approved yet; test its connection and approve the key.`
  if (isHostKeyChanged(node))
    return `The node ${node.name} offers another host key than the approved one; approve the new key first.`
  return null
}
