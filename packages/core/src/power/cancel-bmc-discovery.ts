import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { bmcDiscoveryAudit } from './audit-actions.ts'
import { bmcDiscoveryChanged } from './change-events.ts'
import { bmcPermissions } from './permissions.ts'
import { type BmcDiscovery, bmcDiscoveries } from './tables.ts'

/** Requests the end of a search for BMCs; what was found stays. @throws NotFound, Conflict it has ended */
export async function cancelBmcDiscovery(ctx: Ctx, input: z.input<typeof IdInput>): Promise<BmcDiscovery> {
  authorize(ctx, bmcPermissions.discover)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const unfinished = and(visibleTo(ctx, bmcDiscoveries), eq(bmcDiscoveries.id, id), isNull(bmcDiscoveries.finishedAt))
    const [discovery] = await tx
      .update(bmcDiscoveries)
      .set({ cancelRequestedAt: sql`coalesce(${bmcDiscoveries.cancelRequestedAt}, now())`, canceledByName: ctx.actor.name })
      .where(unfinished)
      .returning()
    if (!discovery)
      throw await notFoundOrConflict(
        tx,
        ctx,
        bmcDiscoveries,
        id,
        'search for BMCs',
        (row) => `The search has ended: ${row.status}.`,
      )
    await audit(tx, ctx, bmcDiscoveryAudit.cancel, { id, name: discovery.addresses[0]! })
    ctx.notify(bmcDiscoveryChanged(discovery))
    return discovery
  })
}
