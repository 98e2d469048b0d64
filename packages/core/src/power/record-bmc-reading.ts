import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { computeNodes, type NodeBmc, nodeBmcs } from '../nodes/tables.ts'
import { powerPermissions } from './permissions.ts'
import { type BmcEvent, type BmcInventory, type BmcSensor, bmcReadings, type PowerState } from './tables.ts'

/** `needsDetails`: a person requested a reading of everything, or there was none yet. */
export type BmcToRead = NodeBmc & { nodeName: string; needsDetails: boolean }

/** Finds the BMC that a worker is to read. @returns null after its removal */
export async function findBmc(ctx: Ctx, id: string): Promise<BmcToRead | null> {
  authorize(ctx, powerPermissions.report)
  const [found] = await ctx.db
    .select({
      bmc: nodeBmcs,
      nodeName: computeNodes.name,
      needsDetails: sql<boolean>`${bmcReadings.requestedAt} is not null or ${bmcReadings.detailsReadAt} is null`,
    })
    .from(nodeBmcs)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeBmcs.nodeId))
    .leftJoin(bmcReadings, eq(bmcReadings.bmcId, nodeBmcs.id))
    .where(and(visibleTo(ctx, nodeBmcs), eq(nodeBmcs.id, id), isNull(computeNodes.decommissionedAt)))
  return found ? { ...found.bmc, nodeName: found.nodeName, needsDetails: found.needsDetails } : null
}

/** `details`: null when only the power state was read. */
export type BmcReport =
  | { state: PowerState; details: { inventory: BmcInventory; sensors: BmcSensor[]; events: BmcEvent[] } | null }
  | { error: string; offeredFingerprint: string | null }

/** Stores what a worker read from a BMC, or why it could not. A failure keeps the last state with its time, and shows UNKNOWN. */
export async function recordBmcReading(ctx: Ctx, bmcId: string, report: BmcReport): Promise<void> {
  authorize(ctx, powerPermissions.report)
  await inTransaction(ctx, async (tx, ctx) => {
    const [bmc] = await tx
      .select({ nodeId: nodeBmcs.nodeId })
      .from(nodeBmcs)
      .where(and(visibleTo(ctx, nodeBmcs), eq(nodeBmcs.id, bmcId)))
      .for('key share')
    if (!bmc) return
    const values =
      'error' in report
        ? {
            ...{ error: sanitizeForPostgres(report.error).slice(0, 2000), failedAt: sql`now()` },
            ...{ offeredFingerprint: report.offeredFingerprint, requestedAt: null },
          }
        : {
            ...{ reportedState: report.state, readAt: sql`now()`, error: null, failedAt: null, offeredFingerprint: null },
            ...(report.details ? { ...sanitizeForPostgres(report.details), detailsReadAt: sql`now()`, requestedAt: null } : {}),
          }
    await tx
      .insert(bmcReadings)
      .values({ bmcId, tenantId: ctx.tenantId, ...values })
      .onConflictDoUpdate({ target: bmcReadings.bmcId, set: values })
    ctx.notify(nodeChanged({ id: bmc.nodeId, tenantId: ctx.tenantId }))
  })
}
