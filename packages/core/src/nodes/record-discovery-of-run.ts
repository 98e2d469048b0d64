import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parseProbe } from '@muster/discovery'
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
  const read = storable(parseProbe(evidence))
  const isProbe = read.host.kernel !== null || read.host.hostname !== null
  const compressed = await promisify(gzip)(evidence)
  await findNodes(ctx, [nodeId])
  return inTransaction(ctx, async (tx, afterwards) => {
    const [row] = await tx
      .insert(discoveries)
      .values({
        tenantId: ctx.tenantId,
        nodeId,
        reason: 'run',
        result: isProbe ? read : null,
        error: isProbe ? null : 'The run brought no output of the probe from this node; look at the raw output.',
        durationMs: read.durationMs,
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
