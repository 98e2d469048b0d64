import { and, eq, isNull } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { lockSlurmCluster, slurmMessages } from '../clusters/index.ts'
import type { SlurmCluster } from '../clusters/tables.ts'
import { type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { Conflict, NotFound } from '../kernel/errors.ts'
import { slurmActions } from '../slurm-actions/tables.ts'
import { slurmOperationAudit } from './audit-actions.ts'
import { slurmOperationChanged } from './change-events.ts'
import { slurmOperationQueue } from './queues.ts'
import { type SlurmOperation, type SlurmOperationKind, slurmOperationNodes, slurmOperations } from './tables.ts'

export type NewSlurmOperation = {
  clusterId: string
  kind: SlurmOperationKind
  input: Record<string, unknown>
  plan: Record<string, unknown>
  reason: string
  /** Version of the configuration that is rolled out, when it exists already. */
  configNumber?: number
  nodes: { nodeId: string | null; name: string }[]
}

/** Locks a cluster for a verb that starts an operation. @throws NotFound */
export async function lockCluster(tx: Tx, ctx: Ctx, id: string): Promise<SlurmCluster> {
  const cluster = await lockSlurmCluster(tx, ctx, id)
  if (!cluster) throw new NotFound(`There is no cluster ${id}.`)
  return cluster
}

/**
 * Starts an operation in the transaction of a verb, which has authorized its caller. A worker executes it.
 * @throws NotFound the cluster; Conflict another operation, or an action, on the cluster has not ended
 */
export async function insertOperation(tx: Tx, ctx: Ctx, { nodes, ...fields }: NewSlurmOperation): Promise<SlurmOperation> {
  const cluster = await lockCluster(tx, ctx, fields.clusterId)
  const [other] = await tx
    .select({ id: slurmOperations.id, kind: slurmOperations.kind, createdByName: slurmOperations.createdByName })
    .from(slurmOperations)
    .where(and(eq(slurmOperations.clusterId, cluster.id), isNull(slurmOperations.finishedAt)))
  if (other)
    throw new Conflict(
      slurmMessages.operationRuns({ kind: other.kind, id: other.id, user: other.createdByName, name: cluster.name }),
    )
  const [action] = await tx
    .select({ id: slurmActions.id, verb: slurmActions.verb })
    .from(slurmActions)
    .where(and(eq(slurmActions.clusterId, cluster.id), isNull(slurmActions.finishedAt)))
    .limit(1)
  if (action) throw new Conflict(slurmMessages.actionRuns({ verb: action.verb, id: action.id, name: cluster.name }))
  const [row] = await tx
    .insert(slurmOperations)
    .values({ ...fields, tenantId: ctx.tenantId, nodeCount: nodes.length, ...createdBy(ctx) })
    .returning()
  if (nodes.length > 0)
    await tx.insert(slurmOperationNodes).values(nodes.map((node) => ({ ...node, tenantId: ctx.tenantId, operationId: row!.id })))
  await ctx.queue.send(tx, slurmOperationQueue, [row!])
  const details = { kind: fields.kind, nodes: nodes.map(({ name }) => name), ...fields.input }
  await audit(tx, ctx, slurmOperationAudit.start, { id: row!.id, name: cluster.name }, details, { reason: fields.reason })
  ctx.notify(slurmOperationChanged(row!))
  return row!
}
