import { sql } from 'drizzle-orm'
import type { Ctx } from '../../kernel/context.ts'
import { type HostResult, jobRunHosts, jobRuns } from '../tables.ts'

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

const FAILING: HostResult[] = ['FAILED', 'UNREACHABLE']
const DONE: HostResult[] = [...FAILING, 'OK', 'CHANGED', 'SKIPPED']

/** Results of a host in both runs; null in a run without the host. */
type Pair = { runId: string; name: string; before: HostResult | null; now: HostResult | null }

/**
 * Compares each of these runs with an earlier finished run of its template. Prefers the last one with the same limit, else takes the
 * last one that shares a host. Runs without such a run are omitted. A host counts when both runs have a result for it.
 */
export async function compareWithPrevious(ctx: Ctx, runIds: string[]): Promise<Map<string, RunComparison>> {
  const previous = await previousOf(ctx, runIds)
  const { rows } = await ctx.db.execute<Pair>(sql`
    select r.id as "runId", pair.*
    from unnest(${sql.param([...previous.keys()])}::uuid[], ${sql.param([...previous.values()])}::uuid[]) as r(id, previous_id)
    cross join lateral (
      select coalesce(n.name, p.name) as name, p.result as before, n.result as now
      from (select * from ${jobRunHosts} where job_run_id = r.id) n
      full join (select * from ${jobRunHosts} where job_run_id = r.previous_id) p
        on coalesce(n.node_id::text, n.name) = coalesce(p.node_id::text, p.name)
    ) pair
    order by pair.name`)
  const pairs = Map.groupBy(rows, ({ runId }) => runId)
  return new Map([...previous].map(([runId, previousId]) => [runId, comparisonOf(previousId, pairs.get(runId) ?? [])]))
}

function comparisonOf(previousId: string, pairs: Pair[]): RunComparison {
  const fails = (result: HostResult) => FAILING.includes(result)
  const named = (fits: (pair: Pair) => boolean) => pairs.filter(fits).map((pair) => pair.name)
  const both = pairs.filter(
    (pair): pair is Pair & { before: HostResult; now: HostResult } =>
      pair.before !== null && pair.now !== null && DONE.includes(pair.before) && DONE.includes(pair.now),
  )
  const among = (fits: (before: boolean, now: boolean) => boolean) =>
    both.filter(({ before, now }) => fits(fails(before), fails(now))).map((pair) => pair.name)
  return {
    previousId,
    newlyFailing: among((before, now) => !before && now),
    fixed: among((before, now) => before && !now),
    stillFailing: among((before, now) => before && now),
    changedBefore: both.filter((pair) => pair.before === 'CHANGED').length,
    changedNow: both.filter((pair) => pair.now === 'CHANGED').length,
    added: named((pair) => pair.before === null),
    missing: named((pair) => pair.now === null),
  }
}

/** IDs of the previous runs by run ID. */
async function previousOf(ctx: Ctx, runIds: string[]): Promise<Map<string, string>> {
  const earlier = sql`
    select p.id
    from ${jobRuns} p
    where p.tenant_id = r.tenant_id and p.template_id = r.template_id and p.id < r.id
      and p.finished_at is not null and p.started_at is not null`
  const { rows } = await ctx.db.execute<{ id: string; previousId: string }>(sql`
    select r.id, previous.id as "previousId"
    from ${jobRuns} r
    cross join lateral (select coalesce(
      (${earlier} and p."limit" = r."limit" order by p.id desc limit 1),
      (${earlier} and exists (
        select from ${jobRunHosts} theirs join ${jobRunHosts} ours on ours.node_id = theirs.node_id
        where theirs.job_run_id = p.id and ours.job_run_id = r.id
      ) order by p.id desc limit 1)
    ) as id) previous
    where r.tenant_id = ${ctx.tenantId} and r.id = any(${sql.param(runIds)}::uuid[]) and previous.id is not null`)
  return new Map(rows.map((row) => [row.id, row.previousId]))
}
