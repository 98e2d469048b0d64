import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { templatePermissions } from './permissions.ts'
import type { JobTemplate } from './tables.ts'

/** Null when `actor` may change or archive the template, else the reason. */
export function editTemplateBlockedReason(
  actor: Actor,
  { name, isSystem, archivedAt }: Pick<JobTemplate, 'name' | 'isSystem' | 'archivedAt'>,
): string | null {
  if (isSystem)
    return `The job template ${name} is shipped with Muster. Create a template with the same playbook and change that one.`
  if (archivedAt) return `The job template ${name} is archived; restore it first.`
  return permissionDeniedReason(actor, templatePermissions.write)
}

/** Null when `actor` may delete the bundle with these references, else the reason. */
export function deleteBundleBlockedReason(
  actor: Actor,
  { name }: { name: string },
  users: { versions: string[]; runs: number } | undefined,
): string | null {
  const { versions = [], runs = 0 } = users ?? {}
  const by = [
    ...(versions.length > 0
      ? [
          `${versions.length === 1 ? 'template' : 'templates'} ${versions.slice(0, 10).join(', ')}${versions.length > 10 ? ', …' : ''}`,
        ]
      : []),
    ...(runs > 0 ? [`${runs} ${runs === 1 ? 'run' : 'runs'}`] : []),
  ]
  if (by.length > 0)
    return `The playbook bundle ${name} is in use by ${by.join(' and ')}. Template versions can be restored and runs retried, so it cannot be deleted before them.`
  return permissionDeniedReason(actor, templatePermissions.write)
}
