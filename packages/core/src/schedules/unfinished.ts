import { and, eq, isNull, sql } from 'drizzle-orm'
import { discoveries } from '../discoveries/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { jobRuns } from '../runs/tables.ts'
import { scheduleFirings } from './tables.ts'

type Unfinished = { runs: { id: string; number: number }[] }

/** Names what has not ended. */
export const overlapReason = ({ runs }: Unfinished): string =>
  runs.length > 0
    ? `The run #${runs[0]!.number} of an earlier time has not ended.`
    : 'Discoveries of an earlier time have not ended.'

/** What earlier firings of a schedule started that has not ended; null when nothing. */
export async function unfinishedOf(tx: Tx, ctx: Ctx, scheduleId: string): Promise<Unfinished | null> {
  const runs = await tx
    .select({ id: jobRuns.id, number: jobRuns.number })
    .from(scheduleFirings)
    .innerJoin(jobRuns, eq(jobRuns.id, scheduleFirings.jobRunId))
    .where(and(visibleTo(ctx, jobRuns), eq(scheduleFirings.scheduleId, scheduleId), isNull(jobRuns.finishedAt)))
    .orderBy(jobRuns.id)
  if (runs.length > 0) return { runs }
  const [last] = await tx
    .select({ ids: scheduleFirings.discoveryIds })
    .from(scheduleFirings)
    .where(and(eq(scheduleFirings.scheduleId, scheduleId), eq(scheduleFirings.outcome, 'STARTED')))
    .orderBy(sql`${scheduleFirings.id} desc`)
    .limit(1)
  if (!last || last.ids.length === 0) return null
  const [open] = await tx
    .select({ id: discoveries.id })
    .from(discoveries)
    .where(
      and(
        visibleTo(ctx, discoveries),
        sql`${discoveries.id} = any(${sql.param(last.ids)}::uuid[])`,
        isNull(discoveries.finishedAt),
      ),
    )
    .limit(1)
  return open ? { runs: [] } : null
}
