import { type SQL, sql } from 'drizzle-orm'
import { isInGroup, readGroupTree } from '../groups/index.ts'
import type { Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound } from '../kernel/errors.ts'
import { computeNodes } from '../nodes/tables.ts'
import { BOOT_STAGE_NAMES, type BootStage } from './stages.ts'
import { bootAttempts, bootStageTimes } from './tables.ts'

/** Time from the stage before to this stage, over the boots of a period. */
export type BootDuration = { stage: BootStage; boots: number; p50Ms: number; p95Ms: number }

const PERIOD = sql`interval '30 days'`

/**
 * Durations of the stages of boots that began within 30 days: of all nodes, or those that are in a group now, and with any or one profile.
 * @throws NotFound the group
 */
export async function readBootDurations(
  ctx: Ctx,
  { groupId, profile }: { groupId?: string | null; profile?: string | null } = {},
): Promise<BootDuration[]> {
  const conditions: SQL[] = [visibleTo(ctx, bootAttempts), sql`${bootAttempts.startedAt} > now() - ${PERIOD}`]
  if (groupId) {
    const tree = await readGroupTree(ctx.db, ctx)
    const group = tree.byId.get(groupId)
    if (!group) throw new NotFound(`There is no group ${groupId}.`)
    conditions.push(sql`${bootAttempts.nodeId} in (
      select id from ${computeNodes} where ${visibleTo(ctx, computeNodes)} and ${isInGroup(tree, [group.name], computeNodes)})`)
  }
  if (profile) conditions.push(sql`${bootAttempts.profile} = ${profile}`)
  const { rows } = await ctx.db.execute<{ stage: BootStage; boots: number; p50: number; p95: number }>(sql`
    with steps as (select s.stage, extract(epoch from s.reached_at - lag(s.reached_at)
          over (partition by s.attempt_id order by s.reached_at, array_position(${sql.param(BOOT_STAGE_NAMES)}::text[], s.stage))) * 1000 as ms
        from ${bootStageTimes} s join ${bootAttempts} on ${bootAttempts.id} = s.attempt_id
        where ${sql.join(conditions, sql` and `)})
    select stage, count(*)::int as boots, percentile_cont(0.5) within group (order by ms)::float8 as p50,
      percentile_cont(0.95) within group (order by ms)::float8 as p95
    from steps where ms is not null group by stage`)
  return rows
    .map(({ stage, boots, p50, p95 }) => ({ stage, boots, p50Ms: Math.round(p50), p95Ms: Math.round(p95) }))
    .filter(({ stage }) => BOOT_STAGE_NAMES.includes(stage))
    .sort((a, b) => BOOT_STAGE_NAMES.indexOf(a.stage) - BOOT_STAGE_NAMES.indexOf(b.stage))
}
