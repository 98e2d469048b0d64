import { and, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { type GroupTree, matchesNodeQuery, readGroupTree } from '../groups/index.ts'
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

/** Input of an AlertMatcher; an empty or null part matches everything. */
export const Matcher = z.strictObject({
  kinds: some(z.enum(ALERT_KINDS)),
  severities: some(z.enum(SEVERITIES)),
  query: singleLineText(2000).nullish(),
  clusters: some(singleLineText(64)),
})

/** Parses a matcher for storage. @throws InvalidInput at matcher.query when the query is invalid */
export async function readMatcher(db: Db | Tx, ctx: Ctx, { query, ...lists }: z.output<typeof Matcher>): Promise<AlertMatcher> {
  if (query) parseNodeQuery(query, { path: 'matcher.query', groups: (await readGroupTree(db, ctx)).byName })
  return JSON.parse(JSON.stringify({ ...lists, ...(query ? { query } : {}) }))
}

/**
 * Condition on `alerts`, left joined with `compute_nodes`, that an alert matches.
 * @param unknown the result when it cannot be decided: the alert has no node, or the query is no longer valid. True for routes
 *   and false for silences, so that alerts are notified in doubt.
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
    return matchesNodeQuery(tree, query, computeNodes)
  } catch (error) {
    // The query names a deleted group.
    if (error instanceof DomainError) return doubt
    throw error
  }
}

/** A column with the ids of the matching entries. */
export const fitting = (conditions: { id: string; fits: SQL }[]): SQL<string[]> =>
  conditions.length === 0
    ? sql`'{}'::text[]`
    : sql`array_remove(array[${sql.join(
        conditions.map(({ id, fits }) => sql`case when ${fits} then ${id}::text end`),
        sql`, `,
      )}], null)`
