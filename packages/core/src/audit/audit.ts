import type { Attempt, Origin, Tx } from '../kernel/context.ts'
import { insertRows } from '../kernel/db/insert-rows.ts'
import { recordedChanges } from '../kernel/db/record-changes.ts'
import { snakeCased } from '../kernel/names.ts'
import { type AuditChange, changeOf } from './change.ts'
import { type ActorKind, type AuditChannel, auditEntries } from './tables.ts'

/** One kind of audit entry; `name` is what the table stores, for example `job_run.cancel`. */
export type AuditAction = { readonly name: string }
type AuditObject = {
  id: string | null
  name?: string | null
  details?: Record<string, unknown>
  /** Like `AuditFields.change`, of this object. */
  change?: AuditChange
}

export type AuditFields = {
  /** From `changeOf`; only for changes that record-changes.ts does not record. */
  change?: AuditChange
  /** Reason that the caller gave. */
  reason?: string | null
  runId?: string | null
}

const MAX_USER_AGENT = 200

/** Typed audit actions of one object type: `defineAuditActions('job_run', ['cancel']).cancel.name` is `job_run.cancel`. */
export const defineAuditActions = <const Verb extends string>(object: string, verbs: readonly Verb[]) =>
  Object.fromEntries(verbs.map((verb) => [verb, { name: `${object}.${snakeCased(verb)}` }])) as Record<Verb, AuditAction>

type Caller = {
  actor: { kind: ActorKind; id: string | null; name: string }
  origin?: Origin | undefined
  attempt?: Attempt | undefined
  requestId?: string | undefined
}

const channelOf = ({ actor: { kind }, origin }: Caller): AuditChannel =>
  origin?.channel ?? (kind === 'worker' || kind === 'agent' || kind === 'system' ? kind : 'api')

/** Columns with the actor, the channel and the client of an action. */
export const callerColumns = (caller: Caller) => ({
  actorKind: caller.actor.kind,
  actorId: caller.actor.id,
  actorName: caller.actor.name,
  sessionId: caller.origin?.sessionId ?? null,
  channel: channelOf(caller),
  userAgent: caller.origin?.userAgent?.slice(0, MAX_USER_AGENT) ?? null,
  address: caller.origin?.address ?? null,
  permission: caller.attempt?.permission ?? null,
  requestId: caller.requestId ?? null,
})

/**
 * Records `action` on one or several objects, in the transaction of the change and after its statements. A null tenant is the
 * installation; `tx` must then use the system role. `details` must contain no secret. In a mutation, the changed fields of the
 * object's row are added.
 */
export async function audit(
  tx: Tx,
  ctx: Caller & { tenantId: string | null; runId?: string | undefined },
  action: AuditAction,
  object: AuditObject | AuditObject[],
  details: Record<string, unknown> = {},
  { change, reason, runId }: AuditFields = {},
): Promise<void> {
  const objects = Array.isArray(object) ? object : [object]
  const given = reason ?? details.reason
  const recorded = await recordedChanges(
    tx,
    objects.flatMap(({ id }) => id ?? []),
  )
  const changeTo = ({ id, change: own }: AuditObject): AuditChange =>
    merged([...(recorded.get(id ?? '') ?? []).map(({ table, before, after }) => changeOf(table, before, after)), change, own])
  const caller = callerColumns(ctx)
  const entries = objects.map((object) => ({
    tenantId: ctx.tenantId,
    ...caller,
    action: action.name,
    objectId: object.id,
    objectName: object.name ?? null,
    details: object.details ?? details,
    ...changeTo(object),
    reason: typeof given === 'string' && given !== '' ? given : null,
    runId: runId ?? ctx.runId ?? null,
  }))
  await insertRows(tx, auditEntries, entries)
  if (ctx.attempt && entries.length > 0) ctx.attempt.isRecorded = true
}

/** Merges changes of one object. A side without fields is null. */
function merged(changes: (AuditChange | undefined)[]): AuditChange {
  const side = (name: 'before' | 'after') => {
    const fields = Object.assign({}, ...changes.map((change) => change?.[name]))
    return Object.keys(fields).length > 0 ? fields : null
  }
  return { before: side('before'), after: side('after') }
}
