import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { slurmControllerAudit } from './audit-actions.ts'
import { slurmClusterTestChanged } from './change-events.ts'
import { checkControllers } from './controllers.ts'
import { ProgramFolder } from './fields.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmClusterTestQueue } from './queues.ts'
import { type SlurmClusterTest, slurmClusterTests } from './tables.ts'

export const TestSlurmControllerInput = z.object({
  nodeId: Id,
  programFolder: ProgramFolder.nullish(),
  idempotencyKey: IdempotencyKey,
})

/**
 * Starts a test of what a refresh needs on a node: Slurm's programs, an answering controller, the account's rights. It changes nothing
 * there and adds no cluster.
 * @throws NotFound; Conflict the node accepts no connections
 */
export async function testSlurmController(ctx: Ctx, input: z.input<typeof TestSlurmControllerInput>): Promise<SlurmClusterTest> {
  authorize(ctx, slurmClusterPermissions.refresh)
  const { idempotencyKey, ...fields } = parseInput(TestSlurmControllerInput, input)
  return idempotent(
    ctx,
    { verb: 'testSlurmController', key: idempotencyKey, input: fields, result: oneRow(slurmClusterTests) },
    async (tx, ctx) => {
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
