import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { jobRunChanged } from '../change-events.ts'
import { ClaimLost, sanitizeJsonForPostgres } from '../events/append-job-run-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { failureSignature } from '../results/failure-signature.ts'
import { type JobRunHost, jobRunHosts, jobRuns } from '../tables.ts'
import { hostCounts } from './host-counts.ts'

/** Current state of a host. Names that the run does not have are ignored. */
export type HostState = Omit<JobRunHost, 'jobRunId' | 'nodeId' | 'failureSignature'>

/**
 * Renews the worker's claim and records the state of the run's hosts.
 * @param ansibleStartedAt when ansible-playbook was executed, once known
 * @returns whether cancellation was requested, and by whom
 * @throws ClaimLost when the run ended or another worker has it
 */
export async function renewClaim(
  ctx: Ctx,
  { id, token, ansibleStartedAt, hosts = [] }: { id: string; token: string; ansibleStartedAt?: Date; hosts?: HostState[] },
): Promise<{ isCancelRequested: boolean; cancelRequestedByName: string | null }> {
  authorize(ctx, jobRunPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [run] = await tx
      .update(jobRuns)
      .set({ workerSeenAt: sql`now()`, ansibleStartedAt })
      .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), eq(jobRuns.claimToken, token), isNull(jobRuns.finishedAt)))
      .returning({ at: jobRuns.cancelRequestedAt, by: jobRuns.cancelRequestedByName })
    if (!run) throw new ClaimLost(`The run ${id} is no longer this worker's.`)
    if (hosts.length > 0) {
      // The row lock above blocks a transaction that ends the run. This write therefore cannot overwrite final host results.
      await writeHostStates(tx, id, hosts)
      await tx.update(jobRuns).set(hostCounts).where(eq(jobRuns.id, id))
      ctx.notify(jobRunChanged({ id, tenantId: ctx.tenantId }))
    }
    return { isCancelRequested: run.at !== null, cancelRequestedByName: run.by }
  })
}

/** Overwrites the figures of some of a run's hosts, in one statement. */
export async function writeHostStates(tx: Tx, id: string, hosts: HostState[]): Promise<void> {
  const rows = hosts.map((host) => ({
    ...host,
    failureSignature: host.message === null ? null : failureSignature(host.message, [host.name]),
  }))
  await tx.execute(sql`
    update ${jobRunHosts} h set ok = s.ok, changed = s.changed, failed = s.failed, unreachable = s.unreachable,
      skipped = s.skipped, rescued = s.rescued, ignored = s.ignored, result = s.result, current_task = s."currentTask",
      current_task_at = s."currentTaskAt", message = s.message, failure_signature = s."failureSignature"
    from json_to_recordset(${sanitizeJsonForPostgres(rows)}::json) as s(name text, ok int, changed int, failed int, unreachable int,
      skipped int, rescued int, ignored int, result text, "currentTask" text, "currentTaskAt" timestamptz,
      message text, "failureSignature" text)
    where h.job_run_id = ${id} and h.name = s.name`)
}
