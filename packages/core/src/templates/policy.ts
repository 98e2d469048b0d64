import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { templatePermissions } from './permissions.ts'
import type { JobTemplate } from './tables.ts'

/** Null when `actor` may change or archive the template, else the reason. */
export function editTemplateBlockedReason(
  actor: Actor,
  { name, isSystem, archivedAt }: Pick<JobTemplate, 'name' | 'isSystem' | 'archivedAt'>,
): string | null {
  if (isSystem) return `The job template ${name} belongs to Muster itself; make one of your own with the same playbook.`
  if (archivedAt) return `The job template ${name} is archived; restore it first.`
  return permissionDeniedReason(actor, templatePermissions.write)
}

/** Null when `actor` may delete the bundle with these references, else the reason. */
export function deleteBundleBlockedReason(
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
  return permissionDeniedReason(actor, templatePermissions.write)
}
