import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../kernel/context.ts'
import { jobRunHosts, jobRuns } from '../tables.ts'

/** One failure, wherever it was met. */
export type FailureSignature = {
  signature: string
  /** The message as the newest of these hosts has it. */
  message: string
  hosts: string[]
  runs: number
  /** How often in all: a host of a run counts once. */
  count: number
  lastRunId: string
  firstAt: Date
  lastAt: Date
}

/**
 * Failures that have the same message but for numbers, names and the like, the most frequent first.
 * @param runId only of this run
 * @param since only of runs that were started then or later
 */
export async function failureSignatures(
  ctx: Ctx,
  { runId, templateId, since, first }: { runId?: string | null; templateId?: string | null; since?: Date | null; first: number },
): Promise<FailureSignature[]> {
  const conditions: SQL[] = [sql`r.tenant_id = ${ctx.tenantId}`]
  if (runId) conditions.push(sql`r.id = ${runId}`)
  if (templateId) conditions.push(sql`r.template_id = ${templateId}`)
  if (since) conditions.push(sql`r.created_at >= ${since.toISOString()}::timestamptz`)
  const { rows } = await ctx.db.execute<FailureSignature & { firstAt: string; lastAt: string }>(sql`
    select h.failure_signature as signature, (array_agg(h.message order by r.id desc))[1] as message,
      array_agg(distinct h.name) as hosts, count(distinct r.id)::int as runs, count(*)::int as count,
      (array_agg(r.id order by r.id desc))[1] as "lastRunId", min(r.created_at) as "firstAt", max(r.created_at) as "lastAt"
    from ${jobRunHosts} h join ${jobRuns} r on r.id = h.job_run_id
    where h.failure_signature is not null and ${sql.join(conditions, sql` and `)}
    group by h.failure_signature
    order by count(*) desc, max(r.id::text) desc
    limit ${first}`)
  return rows.map((row) => ({ ...row, firstAt: new Date(row.firstAt), lastAt: new Date(row.lastAt) }))
}
