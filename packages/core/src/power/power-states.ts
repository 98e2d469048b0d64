import { and, eq } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { nodeBmcs } from '../nodes/tables.ts'
import { bmcReadings, type PowerState } from './tables.ts'

/** `readAt`: when the BMC last reported a state; null before the first time. `error`: why the last reading failed. */
export type NodePower = { state: PowerState; readAt: Date | null; error: string | null }

/** The power states of those of the nodes that have a BMC, by node ID, in one statement. */
export async function powerStates(db: Db | Tx, ctx: Ctx, nodeIds: readonly string[]): Promise<Map<string, NodePower>> {
  const rows = await db
    .select({
      nodeId: nodeBmcs.nodeId,
      state: bmcReadings.powerState,
      readAt: bmcReadings.readAt,
      error: bmcReadings.error,
    })
    .from(nodeBmcs)
    .leftJoin(bmcReadings, eq(bmcReadings.bmcId, nodeBmcs.id))
    .where(and(visibleTo(ctx, nodeBmcs), isOneOf(nodeBmcs.nodeId, [...nodeIds])))
  return new Map(rows.map(({ nodeId, state, readAt, error }) => [nodeId, { state: state ?? 'UNKNOWN', readAt, error }]))
}
