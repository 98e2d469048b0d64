import type { Ctx } from '@muster/core/context'
import { schema as tables, visibleTo } from '@muster/core/db'
import { and, gt, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { type NodeFilterInput, nodeConditions } from '../graphql/node-filter.ts'
import type { PagePlan } from './plan.ts'

const nodes = tables.computeNodes
const n = alias(nodes, 'n')

export type Page = { filter: NodeFilterInput | null; first: number; after: string | null }
type Row = { id: string; node: string; is_short: boolean }

/** Cursors as the connections of resolvers make and read them: the id, tagged as text. */
const cursorOf = (id: string) => Buffer.from(`DC:S:${id}`).toString('base64')
export function idOfCursor(cursor: string): string | null {
  return /^DC:S:([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64').toString())?.[1] ?? null
}

/** Nodes can be in groups by queries, or through groups below. */
const hasMoreMembers = (ctx: Ctx) => sql`exists (select from ${tables.nodeGroups} g
  where g.tenant_id = ${ctx.tenantId} and (g.member_query is not null or g.parent_id is not null))`

/** @returns the answer to the operation, as JSON text; null when it asks for groups that are not plain */
export async function readPage(ctx: Ctx, plan: PagePlan, { filter, first, after }: Page): Promise<string | null> {
  const mine = and(visibleTo(ctx, n), nodeConditions(filter, n, null))
  const wantsCount = [...plan.connection.values()].includes('totalCount')
  const [{ rows }, total] = await Promise.all([
    ctx.db.execute<Row>(sql`select n.id, (select row_to_json(node)::text from (select ${plan.columns}) node) as node,
        ${plan.hasGroups ? hasMoreMembers(ctx) : sql`false`} as is_short
      from (select * from ${nodes} n where ${and(mine, after ? gt(n.id, after) : undefined)} order by n.id limit ${first + 1}) n
      order by n.id`),
    wantsCount ? ctx.db.$count(nodes, and(visibleTo(ctx, nodes), nodeConditions(filter, nodes, null))) : 0,
  ])
  if (rows[0]?.is_short) return null
  const shown = rows.slice(0, first)
  const object = (keys: Map<string, string>, value: (name: string) => string) =>
    `{${[...keys].map(([key, name]) => `"${key}":${value(name)}`).join(',')}}`
  const edge = (row: Row) =>
    object(plan.edge, (name) => {
      if (name === 'node') return row.node
      return name === 'cursor' ? JSON.stringify(cursorOf(row.id)) : '"ComputeNodeEdge"'
    })
  const pageInfo: Record<string, unknown> = {
    __typename: 'PageInfo',
    hasNextPage: rows.length > first,
    hasPreviousPage: after !== null,
    startCursor: shown.length > 0 ? cursorOf(shown[0]!.id) : null,
    endCursor: shown.length > 0 ? cursorOf(shown.at(-1)!.id) : null,
  }
  const connection = object(plan.connection, (name) => {
    if (name === 'edges') return `[${shown.map(edge).join(',')}]`
    if (name === 'pageInfo') return object(plan.pageInfo, (part) => JSON.stringify(pageInfo[part]))
    return name === 'totalCount' ? String(total) : '"ComputeNodeConnection"'
  })
  return `{"${plan.key}":${connection}}`
}
