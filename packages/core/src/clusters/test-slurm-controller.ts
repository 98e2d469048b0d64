import { and, eq, or, sql } from 'drizzle-orm'
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
import { SLURMRESTD_FIELDS, slurmrestdColumns } from './slurmrestd.ts'
import { type SlurmClusterTest, type SlurmrestdColumns, slurmClusters, slurmClusterTests } from './tables.ts'

export const TestSlurmControllerInput = z.object({
  nodeId: Id,
  programFolder: ProgramFolder.nullish(),
  ...SLURMRESTD_FIELDS,
  idempotencyKey: IdempotencyKey,
})

type Settings = SlurmrestdColumns & { programFolder?: string | null | undefined }

/**
 * Starts a test of what a refresh needs on a node: Slurm's programs, an answering controller, the account's rights. It changes nothing
 * there and adds no cluster. A folder of programs or slurmrestd that no cluster on the node has needs the permission to change clusters:
 * programs run there with the rights of the node's account, and the token of a credential is sent.
 * @throws NotFound; Conflict the node accepts no connections
 */
export async function testSlurmController(ctx: Ctx, input: z.input<typeof TestSlurmControllerInput>): Promise<SlurmClusterTest> {
  authorize(ctx, slurmClusterPermissions.refresh)
  const { idempotencyKey, ...fields } = parseInput(TestSlurmControllerInput, input)
  return idempotent(
    ctx,
    { verb: 'testSlurmController', key: idempotencyKey, input: fields, result: oneRow(slurmClusterTests) },
    async (tx, ctx) => {
      const slurmrestd = await slurmrestdColumns(tx, ctx, fields)
      if (!(await isOfCluster(tx, ctx, fields.nodeId, { programFolder: fields.programFolder, ...slurmrestd })))
        authorize(ctx, slurmClusterPermissions.write)
      await checkControllers(tx, ctx, { controllerNodeId: fields.nodeId })
      const [test] = await tx
        .insert(slurmClusterTests)
        .values({ ...fields, ...slurmrestd, tenantId: ctx.tenantId })
        .returning()
      await ctx.queue.send(tx, slurmClusterTestQueue, [test!])
      await audit(tx, ctx, slurmControllerAudit.test, { id: fields.nodeId })
      ctx.notify(slurmClusterTestChanged(test!))
      return test!
    },
  )
}

/** Whether a cluster with this controller or backup has the given settings; null is what every cluster may have. */
async function isOfCluster(tx: Tx, ctx: Ctx, nodeId: string, settings: Settings): Promise<boolean> {
  const { controllerNodeId, backupNodeId } = slurmClusters
  const given = Object.entries(settings).flatMap(([key, value]) =>
    value == null ? [] : [[key as keyof Settings, value] as const],
  )
  if (given.length === 0) return true
  const [cluster] = await tx
    .select({ id: slurmClusters.id })
    .from(slurmClusters)
    .where(
      and(
        visibleTo(ctx, slurmClusters),
        ...given.map(([key, value]) => eq(slurmClusters[key], value)),
        // Without the authorities that the cluster accepts, the token could go to another server.
        settings.slurmrestdCredentialId
          ? sql`${slurmClusters.slurmrestdCaCertificate} is not distinct from ${settings.slurmrestdCaCertificate ?? null}`
          : undefined,
        or(eq(controllerNodeId, nodeId), eq(backupNodeId, nodeId)),
      ),
    )
    .limit(1)
  return cluster !== undefined
}
