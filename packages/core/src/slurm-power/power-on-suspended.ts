import { and, arrayOverlaps, eq, isNotNull, isNull, or } from 'drizzle-orm'
import { slurmNodes } from '../clusters/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound } from '../kernel/errors.ts'
import { insertPowerRun, type PowerAction, powerRuns, requestPowerRunCancel } from '../power/index.ts'
import { lockCluster, slurmOperations } from '../slurm-operations/index.ts'
import { isStillOn, lastRequests } from './last-requests.ts'
import { memberNodes } from './member-nodes.ts'
import { slurmPowerPermissions } from './permissions.ts'
import type { PowerSavingOperation } from './set-slurm-power-saving.ts'
import { slurmPowerRequests } from './tables.ts'

const PARALLELISM = 10
const DELAY_SECONDS = 1

type Request = {
  operationId: string
  clusterId: string
  reason: string
  /** When the nodes last booted, in ISO 8601, by NodeName. */
  bootedAt: Record<string, string | null>
}

/**
 * Starts power runs for the nodes that slurmctld has suspended: after the end of power saving it resumes none. Nodes that were never off are
 * reset: slurmctld waits for their boot. A repeated call of an operation starts no other runs.
 * @returns names of the nodes in Slurm, with their last boot before; null while suspends have not ended, of which the rest is canceled
 */
export async function powerOnSuspended(ctx: Ctx, request: Request): Promise<Record<string, string | null> | null> {
  authorize(ctx, slurmPowerPermissions.report)
  const { operationId, clusterId, reason, bootedAt } = request
  return inTransaction(ctx, async (tx, ctx) => {
    const cluster = await lockCluster(tx, ctx, clusterId)
    const ofOperation = and(visibleTo(ctx, slurmOperations), eq(slurmOperations.id, operationId))
    const [operation] = await tx.select().from(slurmOperations).where(ofOperation)
    if (!operation) throw new NotFound('The operation was deleted.')
    const plan = operation.plan as PowerSavingOperation
    if (plan.poweredOn) return plan.poweredOn
    if (await cancelSuspends(tx, ctx, clusterId)) return null
    const names = await suspendedNames(tx, ctx, clusterId)
    const members = [...(await memberNodes(tx, ctx, cluster, names))]
    const found = members.flatMap(([name, node]) => (typeof node === 'string' ? [] : [{ name, node }]))
    const last = await lastRequests(tx, ctx, clusterId, names)
    const byAction = Map.groupBy(
      found,
      ({ name }): PowerAction => (last.has(name) && isStillOn(last.get(name)!) ? 'CYCLE' : 'ON'),
    )
    const columns = { bootDevice: null, isForced: false, parallelism: PARALLELISM, delaySeconds: DELAY_SECONDS }
    for (const [action, list] of byAction)
      await insertPowerRun(tx, ctx, {
        ...{ ...columns, action, slurmClusterId: clusterId, reason },
        nodes: list.map(({ node }) => node),
      })
    const poweredOn = Object.fromEntries(found.map(({ name }) => [name, bootedAt[name] ?? null]))
    await tx
      .update(slurmOperations)
      .set({ plan: { ...plan, poweredOn } })
      .where(ofOperation)
    return poweredOn
  })
}

/** Ends the suspends of slurmctld: a later command would power off what is powered on. @returns whether one has not ended */
async function cancelSuspends(tx: Tx, ctx: Ctx, clusterId: string): Promise<boolean> {
  const open = await tx
    .select({ id: powerRuns.id, cancelRequestedAt: powerRuns.cancelRequestedAt })
    .from(powerRuns)
    .where(
      and(
        visibleTo(ctx, powerRuns),
        eq(powerRuns.slurmClusterId, clusterId),
        eq(powerRuns.action, 'OFF'),
        isNull(powerRuns.finishedAt),
      ),
    )
    .for('update')
  for (const { id, cancelRequestedAt } of open) if (cancelRequestedAt === null) await requestPowerRunCancel(tx, ctx, id)
  return open.length > 0
}

/** Nodes that slurmctld suspended and has not resumed, and those that it reports as powered down. */
async function suspendedNames(tx: Tx, ctx: Ctx, clusterId: string): Promise<string[]> {
  const requested = await tx
    .select({ name: slurmPowerRequests.name })
    .from(slurmPowerRequests)
    .where(
      and(
        visibleTo(ctx, slurmPowerRequests),
        eq(slurmPowerRequests.clusterId, clusterId),
        // A resume with a reason waits: nothing was sent.
        or(eq(slurmPowerRequests.verb, 'SUSPEND'), isNotNull(slurmPowerRequests.refusedReason)),
      ),
    )
  const reported = await tx
    .select({ name: slurmNodes.name })
    .from(slurmNodes)
    .where(
      and(
        visibleTo(ctx, slurmNodes),
        eq(slurmNodes.clusterId, clusterId),
        arrayOverlaps(slurmNodes.states, ['POWERED_DOWN', 'POWERING_DOWN']),
      ),
    )
  return [...new Set([...requested, ...reported].map(({ name }) => name))]
}
