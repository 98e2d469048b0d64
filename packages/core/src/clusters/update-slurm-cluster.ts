import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { resolveAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { slurmClusterAudit } from './audit-actions.ts'
import { slurmClusterChanged } from './change-events.ts'
import { assertOwnControllers, checkControllers, clusterConflict } from './controllers.ts'
import { CLUSTER_FIELDS } from './fields.ts'
import { slurmClusterPermissions } from './permissions.ts'
import { slurmRefreshQueue } from './queues.ts'
import { givenSaltField, SALT_FIELDS, saltColumns } from './salt.ts'
import { SLURMRESTD_FIELDS, slurmrestdColumns } from './slurmrestd.ts'
import { type SlurmCluster, slurmClusters } from './tables.ts'

export const UpdateSlurmClusterInput = z.object({
  id: Id,
  ...CLUSTER_FIELDS,
  name: CLUSTER_FIELDS.name.optional(),
  controllerNodeId: CLUSTER_FIELDS.controllerNodeId.optional(),
  reuseConfig: z.boolean().optional(),
  ...SALT_FIELDS,
  ...SLURMRESTD_FIELDS,
})

/** Where a cluster is read: after a change, a reading that has begun is worthless, and the configuration is read, too. */
const SOURCE = ['controllerNodeId', 'backupNodeId', 'programFolder'] as const

/**
 * Changes fields of a cluster, and reads it again. Omitted fields keep their values.
 * @throws NotFound the cluster or a node; Conflict as for `addSlurmCluster`
 */
export async function updateSlurmCluster(ctx: Ctx, input: z.input<typeof UpdateSlurmClusterInput>): Promise<SlurmCluster> {
  authorize(ctx, slurmClusterPermissions.write)
  const { id, ...fields } = parseInput(UpdateSlurmClusterInput, input)
  const changes = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as typeof fields
  const scope = and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id))
  const work = inTransaction(ctx, async (tx, ctx) => {
    const [before] = await tx.select().from(slurmClusters).where(scope).for('no key update')
    if (!before) throw new NotFound(`There is no cluster ${id}.`)
    const { controllerNodeId, backupNodeId } = { ...before, ...changes }
    if (controllerNodeId && (changes.controllerNodeId || changes.backupNodeId)) {
      await checkControllers(tx, ctx, { controllerNodeId, backupNodeId })
      await assertOwnControllers(tx, ctx, { controllerNodeId, backupNodeId }, id)
    }
    const salt = await saltColumns(tx, ctx, changes, before)
    const slurmrestd = await slurmrestdColumns(tx, ctx, changes, before)
    if (before.kind === 'EXTERNAL' && givenSaltField(changes))
      throw new Conflict(`The cluster ${before.name} is external. Only managed clusters can use Salt.`)
    const isOtherSource = SOURCE.some((field) => changes[field] !== undefined && changes[field] !== before[field])
    const [cluster] = await tx
      .update(slurmClusters)
      .set({
        ...changes,
        ...salt,
        ...slurmrestd,
        nextRefreshAt: sql`now()`,
        ...(isOtherSource ? { settingsReadAt: null, claimToken: null, claimedUntil: null } : {}),
      })
      .where(scope)
      .returning()
    // Alerts name the cluster; those that the reconciler raises follow by themselves, and the operation keeps its error.
    const renamed = { tenantId: ctx.tenantId, nodeId: null, cluster: before.name, kinds: ['slurm_scale_out_failed' as const] }
    if (cluster!.name !== before.name) for (const event of await resolveAlerts(tx, [renamed])) ctx.notify(event)
    await ctx.queue.send(tx, slurmRefreshQueue, [cluster!])
    await audit(tx, ctx, slurmClusterAudit.update, cluster!)
    ctx.notify(slurmClusterChanged(cluster!))
    return cluster!
  })
  return work.catch(async (error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw await ctx.db.transaction((tx) => clusterConflict(tx, ctx, changes, id))
    throw error
  })
}
