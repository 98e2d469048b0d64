import { type Actor, whyNotAllowed } from '../context.ts'
import type { JobRun, JobTemplate } from './tables.ts'

/** Null when `actor` may cancel the run now, else why not. A second cancel of the same run is allowed and changes nothing. */
export function whyNotCancel(actor: Actor, run: Pick<JobRun, 'status' | 'finishedAt'>): string | null {
  if (run.finishedAt) return `the run is over: ${run.status}`
  return whyNotAllowed(actor, 'job_run:cancel')
}

/** Null when `actor` may change or archive the template, else why not. */
export function whyNotEditTemplate(
  actor: Actor,
  { name, isSystem, archivedAt }: Pick<JobTemplate, 'name' | 'isSystem' | 'archivedAt'>,
): string | null {
  if (isSystem) return `The job template ${name} belongs to Muster itself; make one of your own with the same playbook.`
  if (archivedAt) return `The job template ${name} is archived; restore it first.`
  return whyNotAllowed(actor, 'template:write')
}

/** Null when `actor` may delete the bundle, given what needs it, else why not. */
export function whyNotDeleteBundle(
  actor: Actor,
  { name }: { name: string },
  users: { versions: string[]; runs: number } | undefined,
): string | null {
  const by = [
    ...(users?.versions.length
      ? [`the job templates ${users.versions.slice(0, 10).join(', ')}${users.versions.length > 10 ? ', …' : ''}`]
      : []),
    ...(users?.runs ? [`${users.runs} ${users.runs === 1 ? 'run' : 'runs'}`] : []),
  ]
  if (by.length > 0)
    return `The playbook bundle ${name} is needed by ${by.join(' and by ')}, versions of templates and runs that can be had again; it stays as long as they do.`
  return whyNotAllowed(actor, 'template:write')
}

/** Null when `actor` may try the run again on hosts where it did not end well, else why not. */
export function whyNotRetry(actor: Actor, run: Pick<JobRun, 'status' | 'finishedAt' | 'hostsOk' | 'hostsTotal'>): string | null {
  if (!run.finishedAt) return `it is not over: ${run.status}`
  if (run.hostsOk === run.hostsTotal) return 'all its hosts ended well'
  return whyNotAllowed(actor, 'job_run:start')
}

/** Null when `actor` may take a node away from the run that is changing it, else why not. */
export function whyNotReleaseLock(actor: Actor, isLocked: boolean): string | null {
  if (!isLocked) return 'no run has locked the node'
  return whyNotAllowed(actor, 'node:release_lock')
}

/** What about a node decides whether a playbook may be run on it. */
export type Target = {
  connectionType: 'ssh' | 'local'
  decommissionedAt: Date | null
  maintenanceAt: Date | null
  hostKey: string | null
  offeredHostKey: string | null
  credentialId: string | null
}

/** Null when playbooks may run on the node, else why not, as a sentence about it without its name. */
export function whyNotTarget(node: Target): string | null {
  if (node.decommissionedAt) return 'is decommissioned; recommission it first'
  if (node.maintenanceAt) return 'is in maintenance; end that first, or leave it out of the run'
  if (node.connectionType === 'local') return null
  if (!node.hostKey) return 'has no approved host key; test the connection and approve the key'
  if (node.offeredHostKey && node.offeredHostKey !== node.hostKey)
    return 'offered another host key than the approved one; find out why, then approve the new key'
  if (!node.credentialId) return 'has no credential to log in with; give it one'
  return null
}
