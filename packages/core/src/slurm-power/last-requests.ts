import { and, eq, inArray } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { powerRunItems } from '../power/index.ts'
import { type SlurmPowerRequest, slurmPowerRequests } from './tables.ts'

/** A request with the result of its power run. */
export type LastRequest = { request: SlurmPowerRequest; result: string | null; after: string | null }

/** Results with which a node got no command. */
const WITHOUT_COMMAND = ['REFUSED', 'UNREACHABLE', 'NOT_SENT']

/**
 * Whether a suspended node was never off: Slurm takes it into service only after a boot, so it must be reset. A suspend whose effect is not
 * known counts as done: powering on is harmless.
 */
export function isStillOn({ request, result, after }: LastRequest): boolean {
  if (request.verb === 'RESUME' && request.refusedReason === null) return false
  if (request.powerRunId === null) return request.refusedReason !== null
  return WITHOUT_COMMAND.includes(result ?? '') || (result === 'NOT_VERIFIED' && after === 'ON')
}

/** The last request about each node, by its NodeName. */
export async function lastRequests(tx: Tx, ctx: Ctx, clusterId: string, names: string[]): Promise<Map<string, LastRequest>> {
  if (names.length === 0) return new Map()
  const rows = await tx
    .select({ request: slurmPowerRequests, result: powerRunItems.result, after: powerRunItems.after })
    .from(slurmPowerRequests)
    .leftJoin(
      powerRunItems,
      and(eq(powerRunItems.runId, slurmPowerRequests.powerRunId), eq(powerRunItems.nodeId, slurmPowerRequests.nodeId)),
    )
    .where(
      and(
        visibleTo(ctx, slurmPowerRequests),
        eq(slurmPowerRequests.clusterId, clusterId),
        inArray(slurmPowerRequests.name, names),
      ),
    )
  return new Map(rows.map((row) => [row.request.name, row]))
}
