import { and, desc, eq, gt, lte, sql } from 'drizzle-orm'
import { readGroupTree } from '../groups/index.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/index.ts'
import { fitsMatcher, fitting } from './matcher.ts'
import { type AlertSilence, alertSilences, alerts } from './tables.ts'

/** The active silence of each alert, the one that ends last; alerts without a silence are omitted. */
export async function silencesOfAlerts(
  db: Db | Tx,
  ctx: Pick<Ctx, 'tenantId'>,
  ids: string[],
): Promise<Map<string, AlertSilence>> {
  const silences = await db
    .select()
    .from(alertSilences)
    .where(and(visibleTo(ctx, alertSilences), lte(alertSilences.startsAt, sql`now()`), gt(alertSilences.endsAt, sql`now()`)))
    .orderBy(desc(alertSilences.endsAt))
  if (silences.length === 0 || ids.length === 0) return new Map()
  const tree = await readGroupTree(db, ctx)
  const rows = await db
    .select({ id: alerts.id, by: fitting(silences.map(({ id, matcher }) => ({ id, fits: fitsMatcher(tree, matcher, false) }))) })
    .from(alerts)
    .leftJoin(computeNodes, eq(computeNodes.id, alerts.nodeId))
    .where(and(visibleTo(ctx, alerts), isOneOf(alerts.id, ids)))
  return new Map(
    rows.flatMap(({ id, by }) => {
      const silence = silences.find((one) => by.includes(one.id))
      return silence ? [[id, silence] as const] : []
    }),
  )
}
