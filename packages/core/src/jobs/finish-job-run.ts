import { and, eq, isNull, sql } from 'drizzle-orm'
import { type Ctx, inTransaction } from '../context.ts'
import { visibleTo } from '../db/rows.ts'
import { ClaimLost } from './append-job-run-events.ts'
import { type End, endJobRuns, nudgesOfEnd } from './end-job-runs.ts'
import { type JobArtifact, type JobRun, jobArtifacts, jobRuns } from './tables.ts'
import { type HostState, writeHostStates } from './touch-job-run.ts'

/** A file of the run that the artifact store has. */
export type StoredArtifact = Omit<JobArtifact, 'tenantId' | 'jobRunId' | 'createdAt' | 'removedAt'>

/**
 * End a run: write its hosts' last figures, and close its log with a `run_end` event. Hosts still RUNNING were in the middle
 * of a task; they become `midTaskHosts`.
 * @param execAt when ansible-playbook was exec'd; absent when it was not
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
    execAt,
    said = null,
    artifacts = [],
    ...end
  }: End & {
    id: string
    token: string
    hosts: HostState[]
    execAt?: Date | undefined
    said?: string | null
    artifacts?: StoredArtifact[]
  },
): Promise<JobRun> {
  return inTransaction(ctx, async (tx, afterwards) => {
    const [mine] = await tx
      .update(jobRuns)
      .set({ touchedAt: sql`now()`, execAt })
      .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, id), eq(jobRuns.claimToken, token), isNull(jobRuns.finishedAt)))
      .returning({ id: jobRuns.id })
    if (!mine) throw new ClaimLost(`The run ${id} is no longer this worker's.`)
    if (hosts.length > 0) await writeHostStates(tx, id, hosts)
    if (artifacts.length > 0)
      await tx.insert(jobArtifacts).values(artifacts.map((artifact) => ({ ...artifact, tenantId: ctx.tenantId, jobRunId: id })))
    const [run] = await endJobRuns(tx, [id], end, said)
    for (const nudge of nudgesOfEnd(run!)) afterwards(nudge)
    return run!
  })
}
