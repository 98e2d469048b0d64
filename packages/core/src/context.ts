import { auditEntries, ROLES, type Role } from './access/tables.ts'
import type { Db } from './db/client.ts'
import { Forbidden } from './errors.ts'
import type { Nudge } from './events.ts'
import type { Log } from './log.ts'
import type { Queue } from './queue.ts'

/** Who acts. `system` is Muster itself (reconcilers, first start); `worker` a worker process reporting what it saw. */
export type Actor =
  | { kind: 'user'; id: string; name: string; role: Role }
  | { kind: 'token'; id: string; name: string; role: Role; userId: string | null }
  | { kind: 'worker'; id: string; name: string }
  | { kind: 'system'; id: null; name: string }

/** What a process gives to every verb it calls; made once at its start. */
export type Runtime = { db: Db; queue: Queue; notify: (nudge: Nudge) => void; log: Log }
/** Everything a verb knows of its caller. Every read and write is inside `tenantId`. */
export type Ctx = Runtime & { actor: Actor; tenantId: string; requestId?: string }
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

/** What each permission needs at least. Reading needs `viewer` and is checked by the API's scopes. */
const PERMISSIONS = {
  'node:write': 'operator',
  'node:purge': 'admin',
  'node:approve_host_key': 'operator',
  'node:discover': 'operator',
  'group:write': 'operator',
  'credential:write': 'admin',
  'job_run:start': 'operator',
  'job_run:cancel': 'operator',
  'token:write': 'operator',
} as const satisfies Record<string, Role>
export type Permission = keyof typeof PERMISSIONS

/** Null when `actor` may, else the reason, written for the person who is refused. */
export function whyNotAllowed(actor: Actor, permission: Permission): string | null {
  if (actor.kind === 'system' || actor.kind === 'worker') return null
  const needed = PERMISSIONS[permission]
  if (ROLES.indexOf(actor.role) >= ROLES.indexOf(needed)) return null
  return `this needs the role ${needed}; yours is ${actor.role}`
}

/** Throws Forbidden when the caller's role does not allow `permission`. */
export function authorize(ctx: Ctx, permission: Permission): void {
  const reason = whyNotAllowed(ctx.actor, permission)
  if (reason) throw new Forbidden(`${permission}: ${reason}`)
}

/**
 * Run `work` in one transaction; it is rolled back when `work` throws. Nudges given to `afterwards` go out once it is
 * committed: a NOTIFY inside the transaction would make all commits of the server wait in line.
 */
export async function inTransaction<T>(ctx: Ctx, work: (tx: Tx, afterwards: (nudge: Nudge) => void) => Promise<T>): Promise<T> {
  const nudges: Nudge[] = []
  const result = await ctx.db.transaction((tx) => work(tx, (nudge) => nudges.push(nudge)))
  for (const nudge of nudges) ctx.notify(nudge)
  return result
}

/** Write down who did `action` to `object`, in the transaction of the change. `details` must hold no secret. */
export async function audit(
  tx: Tx,
  ctx: Ctx,
  action: string,
  object: { id: string; name?: string | null },
  details: Record<string, unknown> = {},
): Promise<void> {
  await tx.insert(auditEntries).values({
    tenantId: ctx.tenantId,
    actorKind: ctx.actor.kind,
    actorId: ctx.actor.id,
    actorName: ctx.actor.name,
    action,
    objectId: object.id,
    objectName: object.name ?? null,
    details,
    requestId: ctx.requestId ?? null,
  })
}
