import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { slurmClusterAudit } from './audit-actions.ts'
import { slurmClusterChanged } from './change-events.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmClusters } from './tables.ts'

/**
 * Removes an external cluster from Muster, with what Muster knows of its nodes and jobs. Nothing changes on its machines, and nodes of
 * the inventory stay.
 * @throws NotFound
 */
export async function removeSlurmCluster(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, slurmClusterPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [cluster] = await tx
      .delete(slurmClusters)
      .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id)))
      .returning()
    if (!cluster) throw new NotFound(`There is no cluster ${id}.`)
    await audit(tx, ctx, slurmClusterAudit.remove, cluster)
    ctx.notify(slurmClusterChanged(cluster))
    return { id }
  })
}
