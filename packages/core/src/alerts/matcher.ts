import { and, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { fitsNodeQuery, type GroupTree, readGroupTree } from '../groups/index.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf } from '../kernel/db/rows.ts'
import { DomainError } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { computeNodes } from '../nodes/tables.ts'
import { parseNodeQuery } from '../selection/index.ts'
import { ALERT_KINDS, SEVERITIES } from './kinds.ts'
import { type AlertMatcher, alerts } from './tables.ts'

const some = <T extends z.ZodType>(one: T) =>
  z
    .array(one)
    .max(100)
    .nullish()
    .transform((list) => (list?.length ? [...new Set(list)] : undefined))

/** What people give for an AlertMatcher: a part that is empty or null does not count. */
export const Matcher = z.strictObject({
  kinds: some(z.enum(ALERT_KINDS)),
  severities: some(z.enum(SEVERITIES)),
  query: singleLineText(2000).nullish(),
  clusters: some(singleLineText(64)),
})

/** The matcher as it is kept. @throws InvalidInput at matcher.query when that cannot be read */
export async function readMatcher(db: Db | Tx, ctx: Ctx, { query, ...lists }: z.output<typeof Matcher>): Promise<AlertMatcher> {
  if (query) parseNodeQuery(query, { path: 'matcher.query', groups: (await readGroupTree(db, ctx)).byName })
  return JSON.parse(JSON.stringify({ ...lists, ...(query ? { query } : {}) }))
}

/**
 * Condition on `alerts`, left joined with `compute_nodes`, that an alert fits.
 * @param unknown what holds where it cannot be told: the alert is of no node and the matcher asks for one, or its query cannot be
 *   read any more. True for a route and false for a silence, so that in doubt people are told.
 */
export function fitsMatcher(tree: GroupTree, matcher: AlertMatcher, unknown: boolean): SQL {
  const doubt = sql.raw(String(unknown))
  const { kinds, severities, query, clusters } = matcher
  return (
    and(
      kinds && isOneOf(alerts.kind, kinds, 'text'),
      severities && isOneOf(alerts.severity, severities, 'text'),
      query === undefined
        ? undefined
        : sql`case when ${alerts.nodeId} is null then ${doubt} else ${queryCondition(tree, query, doubt)} end`,
      clusters &&
        or(isOneOf(alerts.cluster, clusters, 'text'), sql`${alerts.cluster} is null and ${alerts.nodeId} is null and ${doubt}`),
    ) ?? sql`true`
  )
}

function queryCondition(tree: GroupTree, query: string, doubt: SQL): SQL {
  try {
    return fitsNodeQuery(tree, query, computeNodes)
  } catch (error) {
    // A group that it names is gone.
    if (error instanceof DomainError) return doubt
    throw error
  }
}

/** Which of these fit, by their ids, as a column. */
export const fitting = (conditions: { id: string; fits: SQL }[]): SQL<string[]> =>
  conditions.length === 0
    ? sql`'{}'::text[]`
    : sql`array_remove(array[${sql.join(
        conditions.map(({ id, fits }) => sql`case when ${fits} then ${id}::text end`),
        sql`, `,
      )}], null)`
