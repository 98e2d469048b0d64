import { signCheckpoint } from '@muster/ledger'
import { and, eq, isNull, or, sql } from 'drizzle-orm'
import { tenants } from '../access/tables.ts'
import { authorize, type SystemCtx, type Tx } from '../kernel/context.ts'
import { isTransientDbError } from '../kernel/retry-transient.ts'
import { appendEntries } from './append-entries.ts'
import { ledgerSigningKey, originOf } from './keys.ts'
import { ledgerPermissions } from './permissions.ts'
import { readChangedNodes } from './read-changed-nodes.ts'
import { ledgerCheckpoints, ledgerSettings } from './tables.ts'
import { newestCheckpoint, rangeHashes } from './tree.ts'

/** Nodes of one batch. The next pass continues at once, because the time of the batch is then not stored. */
const BATCH = 5000

/**
 * Reconciler, over all tenants, safe with any number of workers: appends the changed metadata of nodes to the ledger of their tenant.
 * There is no queue of changes that could grow: each batch compares the nodes with their last entries, so that it has the latest
 * values of a node once, however often they changed. A batch is one transaction and ends with a signed checkpoint.
 * @returns the number of entries
 */
export async function recordNodeChanges(ctx: SystemCtx): Promise<number> {
  authorize(ctx, ledgerPermissions.record)
  const due = await ctx.db
    .select({ tenantId: ledgerSettings.tenantId })
    .from(ledgerSettings)
    .innerJoin(tenants, eq(tenants.id, ledgerSettings.tenantId))
    .where(
      and(
        eq(ledgerSettings.isEnabled, true),
        isNull(tenants.suspendedAt),
        isNull(tenants.deletedAt),
        or(isNull(ledgerSettings.recordedAt), isDue),
      ),
    )
  // Read before the transactions: the vault uses another connection.
  const keyVersion = due.length > 0 ? await ctx.vault.newestVersion() : 0
  let count = 0
  for (const { tenantId } of due)
    try {
      for (let recorded = BATCH; recorded === BATCH; count += recorded) recorded = await recordBatch(ctx, tenantId, keyVersion)
    } catch (error) {
      if (isTransientDbError(error)) throw error
      ctx.log.error({ err: error, tenantId }, 'cannot record node metadata of a tenant; continuing with other tenants')
    }
  return count
}

const isDue = sql`${ledgerSettings.recordedAt} + ${ledgerSettings.intervalSeconds} * interval '1 second' <= now()`

async function recordBatch(ctx: SystemCtx, tenantId: string, keyVersion: number): Promise<number> {
  const signer = await ledgerSigningKey(ctx.vault, tenantId, keyVersion)
  return ctx.db.transaction(async (tx) => {
    const settings = await lockSettings(tx, tenantId)
    if (!settings) return 0
    const nodes = await readChangedNodes(tx, tenantId, { maxAgeSeconds: settings.maxAgeSeconds, limit: BATCH })
    if (nodes.length < BATCH)
      await tx
        .update(ledgerSettings)
        .set({ recordedAt: sql`now()`, updatedAt: sql`${ledgerSettings.updatedAt}` })
        .where(eq(ledgerSettings.tenantId, tenantId))
    if (nodes.length === 0) return 0
    const before = await newestCheckpoint(tx, tenantId)
    const size = await appendEntries(tx, tenantId, before?.size ?? 0, nodes)
    const [root] = await rangeHashes(tx, tenantId, [{ start: 0, end: size }])
    const time = nodes[0]!.record.recorded_at
    const note = signCheckpoint({ origin: originOf(tenantId), size, root: root!, time }, signer)
    await tx.insert(ledgerCheckpoints).values({ tenantId, size, note, keyVersion })
    return nodes.length
  })
}

/** Locks the ledger of a tenant. Undefined when another worker records it, has just done so, or it was disabled. */
async function lockSettings(tx: Tx, tenantId: string) {
  const [row] = await tx
    .select()
    .from(ledgerSettings)
    .where(
      and(
        eq(ledgerSettings.tenantId, tenantId),
        eq(ledgerSettings.isEnabled, true),
        or(isNull(ledgerSettings.recordedAt), isDue),
      ),
    )
    .for('no key update', { skipLocked: true })
  return row
}
