import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../kernel/context.ts'
import { jobRunHosts, jobRuns } from '../tables.ts'

/** A failure, grouped over hosts and runs. */
export type FailureSignature = {
  signature: string
  /** The newest message. */
  message: string
  hosts: string[]
  runs: number
  /** Number of occurrences; each host of a run counts once. */
  count: number
  lastRunId: string
  firstSeenAt: Date
  lastSeenAt: Date
}

export type FailureFilter = {
  runId?: string | null | undefined
  templateId?: string | null | undefined
  createdAfter?: Date | null | undefined
  createdBefore?: Date | null | undefined
}

const from = (ctx: Ctx, { runId, templateId, createdAfter, createdBefore }: FailureFilter): SQL => {
  const conditions = [sql`h.failure_signature is not null`, sql`r.tenant_id = ${ctx.tenantId}`]
  if (runId) conditions.push(sql`r.id = ${runId}`)
  if (templateId) conditions.push(sql`r.template_id = ${templateId}`)
  if (createdAfter) conditions.push(sql`r.created_at >= ${createdAfter.toISOString()}::timestamptz`)
  if (createdBefore) conditions.push(sql`r.created_at < ${createdBefore.toISOString()}::timestamptz`)
  return sql`from ${jobRunHosts} h join ${jobRuns} r on r.id = h.job_run_id where ${sql.join(conditions, sql` and `)}`
}

/** Failures grouped by their signature, most frequent first. */
export async function failureSignatures(
  ctx: Ctx,
  filter: FailureFilter,
  { limit, offset = 0 }: { limit: number; offset?: number },
): Promise<FailureSignature[]> {
  const { rows } = await ctx.db.execute<FailureSignature & { firstSeenAt: string; lastSeenAt: string }>(sql`
    select h.failure_signature as signature, (array_agg(h.message order by r.id desc))[1] as message,
      array_agg(distinct h.name) as hosts, count(distinct r.id)::int as runs, count(*)::int as count,
      (array_agg(r.id order by r.id desc))[1] as "lastRunId", min(r.created_at) as "firstSeenAt", max(r.created_at) as "lastSeenAt"
    ${from(ctx, filter)}
    group by h.failure_signature
    order by count(*) desc, max(r.id::text) desc, h.failure_signature
    limit ${limit} offset ${offset}`)
  return rows.map((row) => ({ ...row, firstSeenAt: new Date(row.firstSeenAt), lastSeenAt: new Date(row.lastSeenAt) }))
}

/** Number of distinct signatures. */
export async function countFailureSignatures(ctx: Ctx, filter: FailureFilter): Promise<number> {
  const { rows } = await ctx.db.execute<{ count: number }>(
    sql`select count(distinct h.failure_signature)::int as count ${from(ctx, filter)}`,
  )
  return rows[0]!.count
}
