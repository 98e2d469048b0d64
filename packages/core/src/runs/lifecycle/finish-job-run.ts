import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { ClaimLost } from '../events/append-job-run-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { type JobArtifact, type JobRun, jobArtifacts, jobRuns } from '../tables.ts'
import { changeEventsOfEnd, type End, endJobRuns } from './end-job-runs.ts'
import { type HostState, writeHostStates } from './renew-claim.ts'

/** A file of the run in the artifact store. */
export type StoredArtifact = Omit<JobArtifact, 'tenantId' | 'jobRunId' | 'createdAt' | 'removedAt'>

/**
 * Ends a run: writes the final results of its hosts, and closes its log with a `run_end` event. Hosts that are still RUNNING were
 * inside a task and become `interruptedHosts`.
 * @param ansibleStartedAt when ansible-playbook was executed; absent when it was not
 * @param lastLine last line of the log; null adds none
 * @param artifacts files stored beforehand, so that an ended run always has them
 * @throws ClaimLost when the run ended or another worker has it
 */
export async function finishJobRun(
  ctx: Ctx,
  {
    id,
    token,
    hosts,
    ansibleStartedAt,
    lastLine = null,
    artifacts = [],
    ...end
  }: End & {
    id: string
    token: string
    hosts: HostState[]
    ansibleStartedAt?: Date | undefined
    lastLine?: string | null
    artifacts?: StoredArtifact[]
  },
): Promise<JobRun> {
  authorize(ctx, jobRunPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [claimed] = await tx
      .update(jobRuns)
      .set({ workerSeenAt: sql`now()`, ansibleStartedAt })
      .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), eq(jobRuns.claimToken, token), isNull(jobRuns.finishedAt)))
      .returning({ id: jobRuns.id })
    if (!claimed) throw new ClaimLost(`The run ${id} is no longer this worker's.`)
    if (hosts.length > 0) await writeHostStates(tx, id, hosts)
    if (artifacts.length > 0)
      await tx.insert(jobArtifacts).values(artifacts.map((artifact) => ({ ...artifact, tenantId: ctx.tenantId, jobRunId: id })))
    const [run] = await endJobRuns(tx, [id], end, lastLine)
    for (const changeEvent of changeEventsOfEnd(run!)) ctx.notify(changeEvent)
    return run!
  })
}
