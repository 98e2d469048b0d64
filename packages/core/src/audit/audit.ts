import type { Ctx, Tx } from '../kernel/context.ts'
import { snakeCased } from '../kernel/names.ts'
import { auditEntries } from './tables.ts'

/** One kind of audit entry; `name` is what the table stores, for example `job_run.cancel`. */
export type AuditAction = { readonly name: string }
type AuditObject = { id: string; name?: string | null; details?: Record<string, unknown> }

// A statement takes at most 65,535 parameters.
const ROWS_PER_INSERT = 2000

/** Typed audit actions of one object type: `defineAuditActions('job_run', ['cancel']).cancel.name` is `job_run.cancel`. */
export const defineAuditActions = <const Verb extends string>(object: string, verbs: readonly Verb[]) =>
  Object.fromEntries(verbs.map((verb) => [verb, { name: `${object}.${snakeCased(verb)}` }])) as Record<Verb, AuditAction>

/**
 * Records who did `action` to `object`, or to several objects, in the transaction of the change. `details`, for all or for one
 * object, must hold no secret.
 */
export async function audit(
  tx: Tx,
  ctx: Ctx,
  action: AuditAction,
  object: AuditObject | AuditObject[],
  details: Record<string, unknown> = {},
): Promise<void> {
  const objects = Array.isArray(object) ? object : [object]
  const entries = objects.map(({ id, name, details: own }) => ({
    tenantId: ctx.tenantId,
    actorKind: ctx.actor.kind,
    actorId: ctx.actor.id,
    actorName: ctx.actor.name,
    action: action.name,
    objectId: id,
    objectName: name ?? null,
    details: own ?? details,
    requestId: ctx.requestId ?? null,
  }))
  for (let i = 0; i < entries.length; i += ROWS_PER_INSERT)
    await tx.insert(auditEntries).values(entries.slice(i, i + ROWS_PER_INSERT))
}
