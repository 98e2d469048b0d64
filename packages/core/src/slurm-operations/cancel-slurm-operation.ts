import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeCluster } from '../clusters/index.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { actorColumns, authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { slurmOperationAudit } from './audit-actions.ts'
import { slurmOperationChanged } from './change-events.ts'
import { slurmOperationPermissions } from './permissions.ts'
import { type SlurmOperation, slurmOperations } from './tables.ts'

/**
 * Asks the worker to stop an operation after its current command, and to undo it. A second request has no effect.
 * @throws Forbidden; NotFound; Conflict the operation has ended
 */
export async function cancelSlurmOperation(ctx: Ctx, input: z.input<typeof IdInput>): Promise<SlurmOperation> {
  authorizeSomewhere(ctx, slurmOperationPermissions.cancel)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const by = actorColumns(ctx, 'cancelRequested')
    const isFirst = sql`${slurmOperations.cancelRequestedAt} is null`
    const [row] = await tx
      .update(slurmOperations)
      .set({
        cancelRequestedAt: sql`coalesce(${slurmOperations.cancelRequestedAt}, now())`,
        cancelRequestedById: sql`case when ${isFirst} then ${by.cancelRequestedById}::uuid else ${slurmOperations.cancelRequestedById} end`,
        cancelRequestedByName: sql`coalesce(${slurmOperations.cancelRequestedByName}, ${by.cancelRequestedByName})`,
      })
      .where(and(visibleTo(ctx, slurmOperations), eq(slurmOperations.id, id), isNull(slurmOperations.finishedAt)))
      .returning()
    if (!row)
      throw await notFoundOrConflict(
        tx,
        ctx,
        slurmOperations,
        id,
        'operation',
        ({ status }) => `The operation ${id} has ended: ${status}.`,
      )
    const [cluster] = await tx.select().from(slurmClusters).where(eq(slurmClusters.id, row.clusterId))
    authorizeCluster(ctx, slurmOperationPermissions.cancel, cluster!)
    await audit(tx, ctx, slurmOperationAudit.cancel, { id: row.id, name: cluster!.name }, { kind: row.kind })
    ctx.notify(slurmOperationChanged(row))
    return row
  })
}
