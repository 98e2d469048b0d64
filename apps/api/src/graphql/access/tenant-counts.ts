import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, count, isNotNull, isNull, type SQL } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { ApiContext } from '../../context.ts'
import { loader } from '../shared/loaders.ts'

const { computeNodes, jobRuns, members } = schema

export type TenantCounts = { nodes: number; members: number; activeRuns: number }

/** Counts per tenant, also for tenants other than the caller's. The caller must have authorized reading these tenants. */
export const loadTenantCounts = loader<TenantCounts>(async (context, ids) => {
  const countIn = counter(context, [...ids])
  const [nodes, people, runs] = await Promise.all([
    countIn(computeNodes, isNull(computeNodes.decommissionedAt)),
    countIn(members),
    countIn(jobRuns, and(isNotNull(jobRuns.startedAt), isNull(jobRuns.finishedAt))),
  ])
  return new Map(
    ids.map((id) => [id, { nodes: nodes.get(id) ?? 0, members: people.get(id) ?? 0, activeRuns: runs.get(id) ?? 0 }]),
  )
})

const counter =
  ({ ctx: { systemDb } }: ApiContext, ids: string[]) =>
  async (table: PgTable & { tenantId: AnyPgColumn }, which?: SQL): Promise<Map<string, number>> => {
    const rows = await systemDb
      .select({ tenantId: table.tenantId, count: count() })
      .from(table as PgTable)
      .where(and(isOneOf(table.tenantId, ids), which))
      .groupBy(table.tenantId)
    return new Map(rows.map((row) => [row.tenantId as string, row.count]))
  }
