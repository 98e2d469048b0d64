import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { discoveryChanged } from './change-events.ts'
import { discoveryPermissions } from './permissions.ts'
import { type DiscoveryRow, discoveries } from './tables.ts'

/** Claims a discovery. @returns null when another worker has it, or it ended */
export async function startDiscovery(ctx: Ctx, { id }: { id: string }): Promise<DiscoveryRow | null> {
  authorize(ctx, discoveryPermissions.report)
  const [row] = await ctx.db
    .update(discoveries)
    .set({ startedAt: sql`now()` })
    .where(
      and(visibleTo(ctx, discoveries), eq(discoveries.id, id), isNull(discoveries.startedAt), isNull(discoveries.finishedAt)),
    )
    .returning()
  if (row) ctx.notify(discoveryChanged({ id, tenantId: ctx.tenantId }))
  return row ?? null
}
