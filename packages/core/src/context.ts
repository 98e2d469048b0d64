import { auditEntries, ROLES, type Role } from './access/tables.ts'
import type { Db } from './db/client.ts'
import { Forbidden } from './errors.ts'
import type { Nudge } from './events.ts'
import type { Log } from './log.ts'
import type { Queue } from './queue.ts'

/**
 * Who acts. `system` is Muster itself (reconcilers, first start); `worker` a worker process reporting what it saw; `agent` the daemon
 * on a node, which does nothing but report.
 */
export type Actor =
  | { kind: 'user'; id: string; name: string; role: Role }
  | { kind: 'token'; id: string; name: string; role: Role; userId: string | null }
  | { kind: 'worker'; id: string; name: string }
  /** A node's agent; `id` is the node's, null while it is not known. */
  | { kind: 'agent'; id: string | null; name: string }
  | { kind: 'system'; id: null; name: string }

/** Seals and opens secret fields; made by `openVault` of core/credentials. */
export type Vault = {
  /** Seal with the newest key there is, which is asked for each time: not to be awaited inside a transaction. */
  seal(place: SealedPlace, text: string): Promise<string>
  /** @throws Error when the record was not sealed for that place, was changed, or its key is not known here */
  open(place: SealedPlace, record: string): Promise<string>
  /** The newest key version. */
  newestVersion(): Promise<number>
  /** What the row of a new key version holds. All that it asks the database goes through `tx`: a pool may have no other connection left. */
  makeKey(tx: Db | Tx, version: number): Promise<{ version: number; salt: string; proof: string }>
}
/** Where a sealed record belongs: moved to another field, row or tenant it does not open. */
export type SealedPlace = { tenantId: string; objectId: string; field: string }

/** What a process gives to every verb it calls; made once at its start. */
export type Runtime = { db: Db; queue: Queue; notify: (nudge: Nudge) => void; log: Log; vault: Vault }
/** Everything a verb knows of its caller. Every read and write is inside `tenantId`. */
export type Ctx = Runtime & { actor: Actor; tenantId: string; requestId?: string }
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

/** What each permission needs at least. Reading needs `viewer` and is checked by the API's scopes. */
const PERMISSIONS = {
  'node:write': 'operator',
  'node:purge': 'admin',
  'node:approve_host_key': 'operator',
  'node:release_lock': 'admin',
  'node:discover': 'operator',
  'group:write': 'operator',
  'vars:write': 'operator',
  /** Variables that Ansible itself reads. */
  'vars:write_reserved': 'admin',
  'tenant:write': 'admin',
  'credential:write': 'admin',
  /** Writing playbooks is running commands on nodes and on the worker itself. */
  'template:write': 'admin',
  'job_run:start': 'operator',
  'job_run:cancel': 'operator',
  'queue:write': 'admin',
  'worker:drain': 'admin',
  /** Acknowledge and silence. */
  'alert:write': 'operator',
  /** Say that what an alert tells of is meant to stay. */
  'alert:end': 'admin',
  /** Ways on which alerts leave the house, with their secrets. */
  'alert_route:write': 'admin',
  /** What is kept of runs, and for how long. */
  'retention:write': 'admin',
  'token:write': 'operator',
  'member:write': 'admin',
  /** Muster itself makes tenants, at its first start. */
  'tenant:create': null,
  /** Nodes of connection type local run commands on the worker itself. */
  'node:local': 'admin',
  /** What workers saw. No role has it. */
  'node:report': null,
  /** Who may speak for a node: enrolment tokens, keys, changed hardware. */
  'agent:trust': 'operator',
  /** Drain, resume, deregister, begin the sequence anew. */
  'agent:write': 'operator',
  /** When silence is called stale or offline. */
  'agent:settings': 'admin',
} as const satisfies Record<string, Role | null>
export type Permission = keyof typeof PERMISSIONS

/** Null when `actor` may, else the reason, written for the person who is refused. */
export function whyNotAllowed(actor: Actor, permission: Permission): string | null {
  if (actor.kind === 'system' || actor.kind === 'worker') return null
  const needed = PERMISSIONS[permission]
  if (needed === null || actor.kind === 'agent') return 'only Muster itself does this'
  if (ROLES.indexOf(actor.role) >= ROLES.indexOf(needed)) return null
  return `This needs the role ${needed}; yours is ${actor.role}.`
}

/** Columns that say who made a row: the person behind a token too. */
export const createdBy = ({ actor }: Pick<Ctx, 'actor'>): { createdById: string | null; createdByName: string } => ({
  createdById: actor.kind === 'user' ? actor.id : actor.kind === 'token' ? actor.userId : null,
  createdByName: actor.name,
})

/** Throws Forbidden when the caller's role does not allow `permission`. */
export function authorize(ctx: Ctx, permission: Permission): void {
  const reason = whyNotAllowed(ctx.actor, permission)
  if (reason) throw new Forbidden(reason)
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

/**
 * Write down who did `action` to `object`, or to several objects at once, in the transaction of the change. `details`, of all or
 * of one object, must hold no secret.
 */
export async function audit(
  tx: Tx,
  ctx: Ctx,
  action: string,
  object: AuditObject | AuditObject[],
  details: Record<string, unknown> = {},
): Promise<void> {
  const objects = Array.isArray(object) ? object : [object]
  const entries = objects.map(({ id, name, details: own }) => ({
    tenantId: ctx.tenantId,
    actorKind: ctx.actor.kind,
    actorId: ctx.actor.id,
    actorName: ctx.actor.name,
    action,
    objectId: id,
    objectName: name ?? null,
    details: own ?? details,
    requestId: ctx.requestId ?? null,
  }))
  // A statement takes at most 65,535 parameters.
  for (let i = 0; i < entries.length; i += 2000) await tx.insert(auditEntries).values(entries.slice(i, i + 2000))
}
type AuditObject = { id: string; name?: string | null; details?: Record<string, unknown> }
