import { type Actor, deniedEverywhereReason } from '../kernel/context.ts'
import { jobRunPermissions } from './permissions.ts'
import type { JobRun } from './tables.ts'

/** Null when `actor` may cancel the run now, else the reason. A second cancel of the same run is allowed and has no effect. */
export function cancelBlockedReason(actor: Actor, run: Pick<JobRun, 'status' | 'finishedAt'>): string | null {
  if (run.finishedAt) return `The run has ended: ${run.status}.`
  return deniedEverywhereReason(actor, jobRunPermissions.cancel)
}

/** Null when `actor` may retry the run on hosts that did not succeed, else the reason. */
export function retryBlockedReason(
  actor: Actor,
  run: Pick<JobRun, 'status' | 'finishedAt' | 'hostsOk' | 'hostsTotal'>,
): string | null {
  if (!run.finishedAt) return `The run has not ended: ${run.status}.`
  if (run.hostsOk === run.hostsTotal) return 'All hosts of the run succeeded.'
  return deniedEverywhereReason(actor, jobRunPermissions.start)
}

/** The properties of a node that decide whether a playbook may run on it. */
export type Target = {
  connectionType: 'ssh' | 'local'
  decommissionedAt: Date | null
  maintenanceAt: Date | null
  maintenanceRunId: string | null
  hostKey: string | null
  offeredHostKey: string | null
  credentialId: string | null
}

/** Null when playbooks may run on the node, else the reason: a phrase that fits one node and several. */
export function nodeBlockedReason(node: Target): string | null {
  if (node.decommissionedAt) return 'decommissioned; recommission first'
  // The run that has set the maintenance holds the lock of the node, for which other runs wait.
  if (node.maintenanceAt && !node.maintenanceRunId) return 'in maintenance; end the maintenance, or exclude from the run'
  if (node.connectionType === 'local') return null
  if (!node.hostKey) return 'no approved host key; test the connection and approve the key'
  if (node.offeredHostKey && node.offeredHostKey !== node.hostKey)
    return 'the offered host key differs from the approved one; find out why, then approve the new key'
  if (!node.credentialId) return 'no credential to log in with; assign one'
  return null
}
