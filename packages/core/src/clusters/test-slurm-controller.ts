import { and, eq, or } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { slurmControllerAudit } from './audit-actions.ts'
import { slurmClusterTestChanged } from './change-events.ts'
import { checkControllers } from './controllers.ts'
import { ProgramFolder } from './fields.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmClusterTestQueue } from './queues.ts'
import { type SlurmClusterTest, slurmClusters, slurmClusterTests } from './tables.ts'

export const TestSlurmControllerInput = z.object({
  nodeId: Id,
  programFolder: ProgramFolder.nullish(),
  idempotencyKey: IdempotencyKey,
})

/**
 * Starts a test of what a refresh needs on a node: Slurm's programs, an answering controller, the account's rights. It changes nothing
 * there and adds no cluster. A folder of programs that no cluster on the node has needs the permission to change clusters, because its
 * programs run there with the rights of the node's account.
 * @throws NotFound; Conflict the node accepts no connections
 */
export async function testSlurmController(ctx: Ctx, input: z.input<typeof TestSlurmControllerInput>): Promise<SlurmClusterTest> {
  authorize(ctx, slurmClusterPermissions.refresh)
  const { idempotencyKey, ...fields } = parseInput(TestSlurmControllerInput, input)
  return idempotent(
    ctx,
    { verb: 'testSlurmController', key: idempotencyKey, input: fields, result: oneRow(slurmClusterTests) },
    async (tx, ctx) => {
      if (fields.programFolder && !(await isFolderOfCluster(tx, ctx, fields.nodeId, fields.programFolder)))
        authorize(ctx, slurmClusterPermissions.write)
      await checkControllers(tx, ctx, { controllerNodeId: fields.nodeId })
      const [test] = await tx
        .insert(slurmClusterTests)
        .values({ ...fields, tenantId: ctx.tenantId })
        .returning()
      await ctx.queue.send(tx, slurmClusterTestQueue, [test!])
      await audit(tx, ctx, slurmControllerAudit.test, { id: fields.nodeId })
      ctx.notify(slurmClusterTestChanged(test!))
      return test!
    },
  )
}

/** Whether a cluster with this controller or backup has the folder. */
async function isFolderOfCluster(tx: Tx, ctx: Ctx, nodeId: string, programFolder: string): Promise<boolean> {
  const { controllerNodeId, backupNodeId } = slurmClusters
  const [cluster] = await tx
    .select({ id: slurmClusters.id })
    .from(slurmClusters)
    .where(
      and(
        visibleTo(ctx, slurmClusters),
        eq(slurmClusters.programFolder, programFolder),
        or(eq(controllerNodeId, nodeId), eq(backupNodeId, nodeId)),
      ),
    )
    .limit(1)
  return cluster !== undefined
}
