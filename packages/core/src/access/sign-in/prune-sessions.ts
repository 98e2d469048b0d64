import { lt, sql } from 'drizzle-orm'
import { authorize, type SystemCtx } from '../../kernel/context.ts'
import { sessionPermissions } from '../permissions.ts'
import { sessions } from '../tables.ts'

/** Reconciler, over all users: deletes expired sessions. @returns the number of deleted sessions */
export async function pruneSessions(ctx: SystemCtx): Promise<number> {
  authorize(ctx, sessionPermissions.prune)
  const { rowCount } = await ctx.db.delete(sessions).where(lt(sessions.expiresAt, sql`now()`))
  return rowCount ?? 0
}
