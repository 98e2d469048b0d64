import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { ClaimLost } from '../events/append-job-run-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { type JobArtifact, type JobRun, jobArtifacts, jobRuns } from '../tables.ts'
import { changeEventsOfEnd, type End, endJobRuns } from './end-job-runs.ts'
import { type HostState, writeHostStates } from './renew-claim.ts'

/** A file of the run that the artifact store has. */
export type StoredArtifact = Omit<JobArtifact, 'tenantId' | 'jobRunId' | 'createdAt' | 'removedAt'>

/**
 * End a run: write its hosts' last figures, and close its log with a `run_end` event. Hosts still RUNNING were in the middle
 * of a task; they become `interruptedHosts`.
 * @param ansibleStartedAt when ansible-playbook was exec'd; absent when it was not
 * @param said one line that closes the log as a reader sees it; null shows nothing
 * @param artifacts what was stored of it beforehand, so that nobody sees it ended without
 * @throws ClaimLost when the run is over or another worker's
 */
export async function finishJobRun(
  ctx: Ctx,
  {
    id,
    token,
    hosts,
    ansibleStartedAt,
    said = null,
    artifacts = [],
    ...end
  }: End & {
    id: string
    token: string
    hosts: HostState[]
    ansibleStartedAt?: Date | undefined
    said?: string | null
    artifacts?: StoredArtifact[]
  },
): Promise<JobRun> {
  authorize(ctx, jobRunPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [mine] = await tx
      .update(jobRuns)
      .set({ workerSeenAt: sql`now()`, ansibleStartedAt })
      .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), eq(jobRuns.claimToken, token), isNull(jobRuns.finishedAt)))
      .returning({ id: jobRuns.id })
    if (!mine) throw new ClaimLost(`The run ${id} is no longer this worker's.`)
    if (hosts.length > 0) await writeHostStates(tx, id, hosts)
    if (artifacts.length > 0)
      await tx.insert(jobArtifacts).values(artifacts.map((artifact) => ({ ...artifact, tenantId: ctx.tenantId, jobRunId: id })))
    const [run] = await endJobRuns(tx, [id], end, said)
    for (const changeEvent of changeEventsOfEnd(run!)) ctx.notify(changeEvent)
    return run!
  })
}
