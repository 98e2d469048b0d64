import { and, eq, isNull, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { connectionTestChanged } from './change-events.ts'
import { connectionPermissions } from './permissions.ts'
import { connectionTests, type PreflightStage } from './tables.ts'

// A server may send anything as its banner. Postgres rejects NUL, and longer text is of no use.
const clean = (text: string | null) => text?.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '?').slice(0, 4000) ?? null

/** Appends a stage to a running connection test; no effect when it has finished. */
export async function recordPreflightStage(ctx: Ctx, { id, stage }: { id: string; stage: PreflightStage }): Promise<void> {
  authorize(ctx, connectionPermissions.report)
  const shown: PreflightStage = { ...stage, detail: clean(stage.detail), hint: clean(stage.hint) }
  const added = sql`${JSON.stringify([shown])}::jsonb`
  // A worker repeats a stage after a lost answer; no stage ends twice at the same hop.
  await ctx.db
    .update(connectionTests)
    .set({
      stages: sql`case when ${connectionTests.stages} @> ${added} then ${connectionTests.stages} else ${connectionTests.stages} || ${added} end`,
    })
    .where(and(visibleTo(ctx, connectionTests), eq(connectionTests.id, id), isNull(connectionTests.finishedAt)))
  ctx.notify(connectionTestChanged({ id, tenantId: ctx.tenantId }))
}
