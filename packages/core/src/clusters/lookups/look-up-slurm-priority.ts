import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { tenantPermissions } from '../../access/permissions.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorize, type Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id, singleLineText } from '../../kernel/input.ts'
import { type SlurmLookup, slurmJobs, slurmLookups } from '../tables.ts'
import { findLookupCluster, insertLookup } from './insert-lookup.ts'

export const LookUpSlurmPriorityInput = z.object({
  clusterId: Id,
  /** As squeue shows it. */
  jobId: singleLineText(2100),
  idempotencyKey: IdempotencyKey,
})

/**
 * Reads the factors of the priority of a pending job, and the shares of its user and account. A worker runs sprio and sshare; nothing
 * changes there.
 * @throws NotFound the cluster or job; Conflict the job is not pending, the cluster has no controller node, or too many lookups
 */
export async function lookUpSlurmPriority(ctx: Ctx, input: z.input<typeof LookUpSlurmPriorityInput>): Promise<SlurmLookup> {
  authorize(ctx, tenantPermissions.read)
  const { idempotencyKey, ...fields } = parseInput(LookUpSlurmPriorityInput, input)
  const key = { verb: 'lookUpSlurmPriority', key: idempotencyKey, input: fields, result: oneRow(slurmLookups) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const cluster = await findLookupCluster(tx, ctx, fields.clusterId)
    const [job] = await tx
      .select()
      .from(slurmJobs)
      .where(and(visibleTo(ctx, slurmJobs), eq(slurmJobs.clusterId, cluster.id), eq(slurmJobs.jobId, fields.jobId)))
    if (!job) throw new NotFound(`The cluster ${cluster.name} has no job ${fields.jobId} in its queue.`)
    if (job.state !== 'PENDING')
      throw new Conflict(`The job ${job.jobId} is ${job.state}. Only pending jobs have priority factors.`)
    // Array tasks and components of heterogeneous jobs have numbers of their own.
    const jobId = String(job.report.id)
    return insertLookup(tx, ctx, cluster, { kind: 'PRIORITY', jobId, user: job.userName, account: job.report.account })
  })
}
