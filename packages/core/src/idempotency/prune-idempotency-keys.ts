import { lt, sql } from 'drizzle-orm'
import { authorize, type SystemCtx } from '../kernel/context.ts'
import { idempotencyKeyPermissions } from './permissions.ts'
import { idempotencyKeys } from './tables.ts'

const KEPT_DAYS = 7

/** Reconciler, over all tenants: deletes idempotency keys that are older than seven days. @returns the number of deleted keys */
export async function pruneIdempotencyKeys(ctx: SystemCtx): Promise<number> {
  authorize(ctx, idempotencyKeyPermissions.prune)
  const { rowCount } = await ctx.db
    .delete(idempotencyKeys)
    .where(lt(idempotencyKeys.createdAt, sql`now() - make_interval(days => ${KEPT_DAYS})`))
  return rowCount ?? 0
}
