import { type Actor, whyNotAllowed } from '../context.ts'
import type { Worker } from './tables.ts'

/** A worker that gave no sign of life for so long is not counted on. */
export const GONE_AFTER_S = 30

/** Null when `actor` may drain the worker, else why not. Workers serve all tenants, so any tenant's admin may. */
export function whyNotDrain(actor: Actor, { name, drainingAt }: Pick<Worker, 'name' | 'drainingAt'>): string | null {
  if (drainingAt) return `The worker ${name} is drained already; undrain it to let it take work again.`
  return whyNotAllowed(actor, 'worker:drain')
}

/** Null when `actor` may let the worker take work again, else why not. */
export function whyNotUndrain(actor: Actor, { name, drainingAt }: Pick<Worker, 'name' | 'drainingAt'>): string | null {
  if (!drainingAt) return `The worker ${name} takes work; there is nothing to undo.`
  return whyNotAllowed(actor, 'worker:drain')
}
