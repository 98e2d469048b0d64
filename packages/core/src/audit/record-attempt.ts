import type { Attempt, Origin, SystemCtx } from '../kernel/context.ts'
import { DomainError, Forbidden, StepUpRequired } from '../kernel/errors.ts'
import { clientNetwork } from '../kernel/networks.ts'
import { type AuditAction, callerColumns } from './audit.ts'
import { type ActorKind, type AuditOutcome, auditEntries } from './tables.ts'

/** Rows per minute, client address and tenant. Further attempts of that minute are counted in one row per action and outcome. */
const ROWS_PER_MINUTE = 30
/** Rows per minute of callers that are not signed in, over all addresses. */
const ANONYMOUS_ROWS_PER_MINUTE = 600
/** Rows with counts per minute. Beyond this number, all addresses share one row per action and outcome. */
const MAX_COUNTED = 500
const MINUTE_MS = 60_000
const MAX_ERROR = 1000

/** The caller of an action without the context of a verb, for example a sign-in. */
export type AttemptCaller = Pick<SystemCtx, 'db' | 'log'> & {
  actor: { kind: ActorKind; id: string | null; name: string }
  /** Null: the attempt concerns the installation. */
  tenantId: string | null
  origin?: Origin | undefined
  attempt?: Attempt | undefined
  requestId?: string | undefined
}

export type AttemptEntry = {
  action: AuditAction
  outcome: AuditOutcome
  error?: string | null
  objectId?: string | null
  objectName?: string | null
  runId?: string | null
  details?: Record<string, unknown>
  reason?: string | null
}

/** Outcome and message of an error. Messages of unexpected errors are not stored: they may contain secrets. */
export const outcomeOf = (error: unknown): { outcome: AuditOutcome; error: string } => ({
  outcome: error instanceof Forbidden || error instanceof StepUpRequired ? 'denied' : 'failed',
  error: error instanceof DomainError ? error.message.slice(0, MAX_ERROR) : 'Internal error. See the server log.',
})

type Counted = { caller: AttemptCaller; entry: AttemptEntry; count: number }

let rows = new Map<string, number>()
let anonymousRows = 0
let counted = new Map<string, Counted>()
let windowEnd: NodeJS.Timeout | undefined

/**
 * Records an action in its own transaction: a denied or failed one, or one without a transaction. Bounded: after many unsuccessful
 * attempts of an address within a minute, further ones share rows with a count, written at the end of the minute.
 */
export async function recordAttempt(caller: AttemptCaller, entry: AttemptEntry): Promise<void> {
  if (entry.outcome !== 'succeeded' && !takeRow(caller)) return count(caller, entry)
  await insert(caller, entry, 1)
}

function takeRow({ tenantId, actor, origin }: AttemptCaller): boolean {
  windowEnd ??= setTimeout(() => void flushAttempts(), MINUTE_MS).unref()
  const key = `${tenantId} ${clientNetwork(origin?.address ?? actor.id ?? '')}`
  const used = rows.get(key) ?? 0
  if (used >= ROWS_PER_MINUTE) return false
  if (actor.kind === 'anonymous') {
    if (anonymousRows >= ANONYMOUS_ROWS_PER_MINUTE) return false
    anonymousRows++
  }
  rows.set(key, used + 1)
  return true
}

function count(caller: AttemptCaller, { action, outcome }: AttemptEntry): void {
  const { tenantId, actor, origin } = caller
  const own = [tenantId, actor.kind, actor.id, action.name, outcome]
  const key = JSON.stringify([...own, clientNetwork(origin?.address ?? '')])
  const isFull = !counted.has(key) && counted.size >= MAX_COUNTED
  const place = isFull ? JSON.stringify([tenantId, action.name, outcome]) : key
  const known = counted.get(place)
  if (known) known.count++
  else {
    const shared = isFull
      ? { ...caller, actor: { kind: 'anonymous' as const, id: null, name: 'several callers' }, origin: undefined }
      : caller
    const { requestId: _, ...rest } = shared as AttemptCaller
    counted.set(place, { caller: rest, entry: { action, outcome, details: { aggregated: true } }, count: 1 })
  }
}

/** Writes the rows with counts of this minute, and starts a new one. Processes call it before they stop. */
export async function flushAttempts(): Promise<void> {
  clearTimeout(windowEnd)
  windowEnd = undefined
  const written = [...counted.values()]
  rows = new Map()
  anonymousRows = 0
  counted = new Map()
  for (const { caller, entry, count } of written)
    await insert(caller, entry, count).catch((error) =>
      caller.log.error({ err: error, action: entry.action.name, count }, 'cannot record attempts in the audit log'),
    )
}

async function insert(
  caller: AttemptCaller,
  { action, objectId, objectName, ...entry }: AttemptEntry,
  count: number,
): Promise<void> {
  await caller.db.insert(auditEntries).values({
    tenantId: caller.tenantId,
    ...callerColumns(caller),
    action: action.name,
    objectId: objectId ?? null,
    ...entry,
    objectName: storable(objectName),
    reason: storable(entry.reason),
    error: storable(entry.error),
    count,
  })
}

/** Removes NUL, which Postgres rejects and an attacker could send to prevent the entry. */
const storable = (text: string | null | undefined): string | null => text?.replaceAll('\0', '') ?? null
