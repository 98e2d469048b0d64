import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parseProbe, probeFailureReason } from '@muster/discovery'
import { sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { sanitizeForPostgres } from '../kernel/db/sanitize.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { findNodes } from '../selection/index.ts'
import { discoveryChanged } from './change-events.ts'
import { persistDiscovery } from './finish-discovery.ts'
import { discoveryPermissions } from './permissions.ts'
import { type DiscoveryRow, discoveries } from './tables.ts'

/**
 * Stores the probe result of a run (`collect_facts`) as a discovery with the reason `run`.
 * @param evidence the probe's raw output
 * @throws NotFound, Conflict the node is gone or decommissioned
 */
export async function recordDiscoveryOfRun(
  ctx: Ctx,
  { nodeId, evidence }: { nodeId: string; evidence: Uint8Array },
): Promise<DiscoveryRow> {
  authorize(ctx, discoveryPermissions.report)
  const error = probeFailureReason(evidence)
  const result = error ? null : sanitizeForPostgres(parseProbe(evidence))
  const compressed = await promisify(gzip)(evidence)
  await findNodes(ctx, [nodeId])
  return inTransaction(ctx, async (tx, ctx) => {
    const [row] = await tx
      .insert(discoveries)
      .values({
        tenantId: ctx.tenantId,
        nodeId,
        reason: 'run',
        result,
        error: error && sanitizeForPostgres(error),
        durationMs: result?.durationMs ?? null,
        startedAt: sql`now()`,
        finishedAt: sql`now()`,
      })
      .returning()
    await persistDiscovery(tx, ctx, row!, compressed)
    ctx.notify(discoveryChanged({ id: row!.id, tenantId: ctx.tenantId }))
    ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
    return row!
  })
}
