import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../kernel/context.ts'
import { type HostResult, type JobRun, jobRunHosts, jobRuns } from '../tables.ts'

/** Comparison of a run with the previous one. */
export type RunComparison = {
  previousId: string
  newlyFailing: string[]
  fixed: string[]
  stillFailing: string[]
  /** Hosts of both runs. */
  changedBefore: number
  changedNow: number
  /** Hosts of only one of the two. */
  added: string[]
  missing: string[]
}

type ComparedRun = Pick<JobRun, 'id' | 'templateId' | 'limit'>

const FAILING: HostResult[] = ['FAILED', 'UNREACHABLE']
const DONE: HostResult[] = [...FAILING, 'OK', 'CHANGED', 'SKIPPED']

/**
 * Compares a run with an earlier finished run of its template. Prefers the last one with the same limit, else takes the last one
 * that shares a host. Null when there is none. A host counts when both runs have a result for it.
 */
export async function compareWithPrevious(ctx: Ctx, run: ComparedRun): Promise<RunComparison | null> {
  const previous = await previousOf(ctx, run)
  if (!previous) return null
  type Pair = { name: string; before: HostResult | null; now: HostResult | null }
  const { rows: pairs } = await ctx.db.execute<Pair>(sql`
    select coalesce(n.name, p.name) as name, p.result as before, n.result as now
    from (select * from ${jobRunHosts} where job_run_id = ${run.id}) n
    full join (select * from ${jobRunHosts} where job_run_id = ${previous.id}) p
      on coalesce(n.node_id::text, n.name) = coalesce(p.node_id::text, p.name)
    order by 1`)
  const fails = (result: HostResult) => FAILING.includes(result)
  const named = (fits: (pair: Pair) => boolean) => pairs.filter(fits).map((pair) => pair.name)
  const both = pairs.filter(
    (pair): pair is Pair & { before: HostResult; now: HostResult } =>
      pair.before !== null && pair.now !== null && DONE.includes(pair.before) && DONE.includes(pair.now),
  )
  const among = (fits: (before: boolean, now: boolean) => boolean) =>
    both.filter(({ before, now }) => fits(fails(before), fails(now))).map((pair) => pair.name)
  return {
    previousId: previous.id,
    newlyFailing: among((before, now) => !before && now),
    fixed: among((before, now) => before && !now),
    stillFailing: among((before, now) => before && now),
    changedBefore: both.filter((pair) => pair.before === 'CHANGED').length,
    changedNow: both.filter((pair) => pair.now === 'CHANGED').length,
    added: named((pair) => pair.before === null),
    missing: named((pair) => pair.now === null),
  }
}

async function previousOf(ctx: Ctx, run: ComparedRun): Promise<{ id: string } | null> {
  const last = async (fits: SQL) => {
    const { rows } = await ctx.db.execute<{ id: string }>(sql`
      select p.id
      from ${jobRuns} p
      where p.tenant_id = ${ctx.tenantId} and p.template_id = ${run.templateId} and p.id < ${run.id}
        and p.finished_at is not null and p.started_at is not null and ${fits}
      order by p.id desc
      limit 1`)
    return rows[0] ?? null
  }
  const sameLimit = run.limit === null ? null : await last(sql`p."limit" = ${run.limit}`)
  const sharesHost = sql`exists (
    select from ${jobRunHosts} theirs join ${jobRunHosts} ours on ours.node_id = theirs.node_id
    where theirs.job_run_id = p.id and ours.job_run_id = ${run.id})`
  return sameLimit ?? (await last(sharesHost))
}
