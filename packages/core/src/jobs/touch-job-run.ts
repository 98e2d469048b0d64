import { and, eq, isNull, sql } from 'drizzle-orm'
import { type Ctx, inTransaction, type Tx } from '../context.ts'
import { visibleTo } from '../db/rows.ts'
import { ClaimLost, storableJson } from './append-job-run-events.ts'
import { failureSignature } from './failure-signature.ts'
import { type JobRunHost, jobRunHosts, jobRuns } from './tables.ts'

/** How a host stands now. Names that the run does not have are ignored. */
export type HostState = Omit<JobRunHost, 'jobRunId' | 'nodeId' | 'failureSignature'>

/**
 * Say that the run is alive, and how its hosts stand.
 * @param execAt when ansible-playbook was exec'd, once known
 * @returns who asked it to stop, if anybody did
 * @throws ClaimLost when the run is over or another worker's
 */
export async function touchJobRun(
  ctx: Ctx,
  { id, token, execAt, hosts = [] }: { id: string; token: string; execAt?: Date; hosts?: HostState[] },
): Promise<{ isCancelRequested: boolean; cancelRequestedByName: string | null }> {
  return inTransaction(ctx, async (tx, afterwards) => {
    const [run] = await tx
      .update(jobRuns)
      .set({ touchedAt: sql`now()`, execAt })
      .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), eq(jobRuns.claimToken, token), isNull(jobRuns.finishedAt)))
      .returning({ at: jobRuns.cancelRequestedAt, by: jobRuns.cancelRequestedByName })
    if (!run) throw new ClaimLost(`The run ${id} is no longer this worker's.`)
    if (hosts.length > 0) {
      // Whoever ends the run meanwhile waits for the row above: what the hosts were must not be written over how they ended.
      await writeHostStates(tx, id, hosts)
      afterwards({ topic: 'jobRun', id, tenantId: ctx.tenantId })
    }
    return { isCancelRequested: run.at !== null, cancelRequestedByName: run.by }
  })
}

/** Overwrite the figures of some of a run's hosts, in one statement. */
export async function writeHostStates(tx: Tx, id: string, hosts: HostState[]): Promise<void> {
  const rows = hosts.map((host) => ({
    ...host,
    failureSignature: host.message === null ? null : failureSignature(host.message, [host.name]),
  }))
  await tx.execute(sql`
    update ${jobRunHosts} h set ok = s.ok, changed = s.changed, failed = s.failed, unreachable = s.unreachable,
      skipped = s.skipped, rescued = s.rescued, ignored = s.ignored, result = s.result, current_task = s."currentTask",
      current_task_at = s."currentTaskAt", message = s.message, failure_signature = s."failureSignature"
    from json_to_recordset(${storableJson(rows)}::json) as s(name text, ok int, changed int, failed int, unreachable int,
      skipped int, rescued int, ignored int, result text, "currentTask" text, "currentTaskAt" timestamptz,
      message text, "failureSignature" text)
    where h.job_run_id = ${id} and h.name = s.name`)
}
