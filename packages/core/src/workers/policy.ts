import { type Actor, permissionDeniedReason } from '../kernel/context.ts'
import { workerPermissions } from './permissions.ts'
import type { Worker } from './tables.ts'

/** A worker without a sign of life for this long counts as gone. */
export const WORKER_GONE_AFTER_SECONDS = 30

/** Null when `actor` may drain the worker, else the reason. Workers serve all tenants, so any tenant's admin may. */
export function drainBlockedReason(actor: Actor, { name, drainedAt }: Pick<Worker, 'name' | 'drainedAt'>): string | null {
  if (drainedAt) return `The worker ${name} is already drained. Undrain it so that it starts runs again.`
  return permissionDeniedReason(actor, workerPermissions.drain)
}

/** Null when `actor` may undrain the worker, else the reason. */
export function undrainBlockedReason(actor: Actor, { name, drainedAt }: Pick<Worker, 'name' | 'drainedAt'>): string | null {
  if (!drainedAt) return `The worker ${name} is not drained.`
  return permissionDeniedReason(actor, workerPermissions.drain)
}
