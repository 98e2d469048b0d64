import { and, eq, sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { credentials } from './tables.ts'

/** Maximum number of bastions in front of a node. Each hop is a connection inside a connection. */
export const MAX_HOPS = 5

/**
 * Locks the tenant's bastion graph until the transaction ends, so that concurrent changes cannot create a cycle. Take it before
 * any row lock to avoid deadlocks.
 */
export async function lockBastionGraph(tx: Tx, ctx: Ctx): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`bastions of ${ctx.tenantId}`}, 0))`)
}

/**
 * Checks that the bastion `id` can be reached through `viaId`: a bastion of this tenant, no cycle, at most MAX_HOPS. The caller
 * holds `lockBastionGraph`.
 * @throws InvalidInput at viaId
 */
export async function checkVia(tx: Tx, ctx: Ctx, id: string, viaId: string): Promise<void> {
  const invalid = (message: string) => new InvalidInput([{ path: 'viaId', message }])
  const [via] = await tx
    .select({ kind: credentials.kind })
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), eq(credentials.id, viaId)))
    .for('key share')
  if (!via) throw invalid(`There is no credential ${viaId}.`)
  if (via.kind !== 'BASTION') throw invalid(`is a credential of the kind ${via.kind}; it must be a BASTION`)
  const { rows } = await tx.execute<{ outward: string[]; inward: number }>(sql`
    with recursive outward as (
      select id, via_id, 1 as hops from credentials where id = ${viaId}
      union all select c.id, c.via_id, o.hops + 1 from credentials c join outward o on c.id = o.via_id where o.hops <= ${MAX_HOPS}
    ), inward as (
      select ${id}::uuid as id, 1 as hops
      union all select c.id, i.hops + 1 from credentials c join inward i on c.via_id = i.id where i.hops <= ${MAX_HOPS}
    )
    select (select array_agg(id::text) from outward) as outward, (select max(hops) from inward) as inward`)
  const { outward, inward } = rows[0]!
  if (outward.includes(id)) throw invalid('would make a circle: that bastion is itself reached through this one')
  if (outward.length + inward > MAX_HOPS) throw invalid(`would make a route of more than ${MAX_HOPS} hops`)
}

type PinnedHop = { name: string; hostKey: string | null; offeredHostKey: string | null }

/** Why only connection tests may use these bastions; null when all connections may. */
export function unapprovedHopReason(hops: PinnedHop[]): string | null {
  for (const { name, hostKey, offeredHostKey } of hops) {
    if (!hostKey) return `The bastion ${name} has no approved host key; test the connection and approve the key.`
    if (offeredHostKey && offeredHostKey !== hostKey)
      return `The bastion ${name} offers another host key than the approved one; approve the new key first.`
  }
  return null
}

/** Reasons by the id of the last bastion on the route; usable routes are absent. */
export async function unapprovedBastionReasons(ctx: Ctx, db: Db | Tx, ids: string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.execute<PinnedHop & { last: string }>(sql`
    with recursive way as (
      select id as last, id, via_id, name, host_key, offered_host_key, 1 as hop from ${credentials}
      where ${visibleTo(ctx, credentials)} and ${isOneOf(credentials.id, ids)}
      union all
      select w.last, c.id, c.via_id, c.name, c.host_key, c.offered_host_key, w.hop + 1
      from ${credentials} c join way w on c.id = w.via_id where w.hop < ${MAX_HOPS}
    )
    select last, name, host_key as "hostKey", offered_host_key as "offeredHostKey" from way order by last, hop desc`)
  const ways = Map.groupBy(rows, (hop) => hop.last)
  return new Map(
    [...ways].flatMap(([last, hops]): [string, string][] => {
      const reason = unapprovedHopReason(hops)
      return reason ? [[last, reason]] : []
    }),
  )
}
