import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../kernel/db/client.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { alerts } from './tables.ts'

/** Changes that one call returns at most. */
const MAX_CHANGES = 500

/**
 * A position in the changes of alerts. Times and sequences cannot be positions, because transactions commit in another order than
 * they start: the later commit would be skipped. A position is therefore a Postgres snapshot; the changes after it are those of
 * transactions that are not visible in it.
 */
type Position = {
  /** Snapshot up to which all changes were returned. */
  base: string
  /** Within the changes up to `target`, those up to (xid, id) were returned. */
  part?: { target: string; xid: string; id: string }
}

const SNAPSHOT = /^\d{1,20}:\d{1,20}:[\d,]*$/

const encode = ({ base, part }: Position): string =>
  Buffer.from([base, ...(part ? [part.target, part.xid, part.id] : [])].join('|')).toString('base64url')

/** @throws InvalidInput at `after` when `cursor` is not a cursor of this function */
function decode(cursor: string): Position {
  const [base = '', target, xid, id, ...rest] = Buffer.from(cursor, 'base64url').toString().split('|')
  const isWhole = target === undefined
  const isPart = SNAPSHOT.test(target ?? '') && /^\d{1,20}$/.test(xid ?? '') && /^[0-9a-f-]{36}$/.test(id ?? '')
  if (!SNAPSHOT.test(base) || !(isWhole || isPart) || rest.length > 0)
    throw new InvalidInput([{ path: 'after', message: 'is not a cursor of alertUpdated' }])
  return isWhole ? { base } : { base, part: { target, xid: xid!, id: id! } }
}

/** The current position: changes that commit from now on come after it. */
export async function currentAlertCursor(db: Db): Promise<string> {
  return encode({ base: await currentSnapshot(db) })
}

async function currentSnapshot(db: Db): Promise<string> {
  const { rows } = await db.execute<{ snapshot: string }>(sql`select pg_current_snapshot()::text as snapshot`)
  return rows[0]!.snapshot
}

export type AlertChange = { id: string; cursor: string }

/**
 * The alerts of a tenant that changed after `cursor`, each once, and the cursor after each. With `alertId`, only that alert.
 * `next` is the position after all of them.
 * @throws InvalidInput at `after` when the cursor is invalid
 */
export async function readChangedAlerts(
  db: Db,
  { tenantId, alertId, after }: { tenantId: string; alertId?: string | null; after: string },
): Promise<{ changes: AlertChange[]; next: string }> {
  const { base, part } = decode(after)
  // First the rest of the changes that a previous call began to return.
  const target = part?.target ?? (await currentSnapshot(db))
  const conditions: SQL[] = [
    sql`a.tenant_id = ${tenantId}`,
    // Redundant, but can use the index.
    sql`a.changed_xid >= pg_snapshot_xmin(${base}::pg_snapshot)`,
    sql`not pg_visible_in_snapshot(a.changed_xid, ${base}::pg_snapshot)`,
    sql`pg_visible_in_snapshot(a.changed_xid, ${target}::pg_snapshot)`,
    ...(part ? [sql`(a.changed_xid, a.id) > (${part.xid}::xid8, ${part.id}::uuid)`] : []),
    ...(alertId ? [sql`a.id = ${alertId}`] : []),
  ]
  const { rows } = await db.execute<{ id: string; xid: string }>(sql`
    select a.id, a.changed_xid::text as xid from ${alerts} a where ${sql.join(conditions, sql` and `)}
    order by a.changed_xid, a.id limit ${MAX_CHANGES}`)
  const isComplete = rows.length < MAX_CHANGES
  const changes = rows.map(({ id, xid }, i) => ({
    id,
    cursor: encode(isComplete && i === rows.length - 1 ? { base: target } : { base, part: { target, xid, id } }),
  }))
  return { changes, next: changes.at(-1)?.cursor ?? encode({ base: target }) }
}
