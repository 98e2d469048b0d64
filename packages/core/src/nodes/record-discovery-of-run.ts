import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parseProbe, whyNotRead } from '@muster/discovery'
import { sql } from 'drizzle-orm'
import { authorize, type Ctx, inTransaction } from '../context.ts'
import { findNodes } from './find-nodes.ts'
import { keepDiscovery } from './finish-discovery.ts'
import { storable } from './storable.ts'
import { type DiscoveryRow, discoveries } from './tables.ts'

/**
 * Keep what the probe told inside a run (`collect_facts`): the same as a discovery of our own, with the reason `run`.
 * @param evidence the probe's raw output
 * @throws NotFound, Conflict the node is gone or decommissioned
 */
export async function recordDiscoveryOfRun(
  ctx: Ctx,
  { nodeId, evidence }: { nodeId: string; evidence: Uint8Array },
): Promise<DiscoveryRow> {
  authorize(ctx, 'node:report')
  const error = whyNotRead(evidence)
  const result = error ? null : storable(parseProbe(evidence))
  const compressed = await promisify(gzip)(evidence)
  await findNodes(ctx, [nodeId])
  return inTransaction(ctx, async (tx, afterwards) => {
    const [row] = await tx
      .insert(discoveries)
      .values({
        tenantId: ctx.tenantId,
        nodeId,
        reason: 'run',
        result,
        error: error && storable(error),
        durationMs: result?.durationMs ?? null,
        startedAt: sql`now()`,
        finishedAt: sql`now()`,
      })
      .returning()
    await keepDiscovery(tx, ctx, row!, compressed)
    afterwards({ topic: 'discovery', id: row!.id, tenantId: ctx.tenantId })
    afterwards({ topic: 'node', id: nodeId, tenantId: ctx.tenantId })
    return row!
  })
}
