import { and, eq, isNull, sql } from 'drizzle-orm'
import { type Alert, alerts, raiseAlerts, resolveAlerts } from '../alerts/index.ts'
import { authorize, inTransaction, type SystemCtx } from '../kernel/context.ts'
import type { ChangeEvent } from '../kernel/events.ts'
import { jobRuns } from '../runs/tables.ts'
import { schedulePermissions } from './permissions.ts'
import { scheduleFirings, schedules } from './tables.ts'

const KIND = 'schedule_failed'

/** The facts of an alert: the enabled schedules with a failed last result, by name. `run` is the number of the failed run. */
export type ScheduleEvidence = { schedules: { name: string; dueAt: string; run: number | null; reason: string }[] }

type Failed = { tenantId: string; name: string; dueAt: string; run: number | null; reason: string }

/**
 * Reconciler, over all tenants, safe with any number of workers: raises one alert per tenant while the last start of an enabled schedule
 * was refused or failed, or its last ended run did not succeed. Skipped times do not count.
 * @returns the number of such schedules
 */
export async function checkSchedules(ctx: SystemCtx): Promise<number> {
  authorize(ctx, schedulePermissions.fire)
  return inTransaction(ctx, async (tx, ctx) => {
    const { rows } = await tx.execute<{ locked: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended('muster schedules', 0)) as locked`,
    )
    if (!rows[0]!.locked) return 0
    const { rows: failed } = await tx.execute<Failed>(sql`
      select s.tenant_id as "tenantId", s.name, to_json(f.due_at) #>> '{}' as "dueAt", r.number as run,
        coalesce(f.message, r.error, 'The run ended with the status ' || r.status || '.') as reason
      from ${schedules} s
      join lateral (select f.* from ${scheduleFirings} f left join ${jobRuns} r on r.id = f.job_run_id
        where f.schedule_id = s.id and f.outcome <> 'SKIPPED' and (f.job_run_id is null or r.finished_at is not null)
        order by f.id desc limit 1) f on true
      left join ${jobRuns} r on r.id = f.job_run_id
      where s.is_enabled and (f.outcome = 'FAILED' or r.status in ('PARTIAL', 'FAILED', 'TIMED_OUT', 'ERROR'))
      order by s.tenant_id, s.name`)
    const byTenant = Map.groupBy(failed, ({ tenantId }) => tenantId)
    const open = await tx
      .select()
      .from(alerts)
      .where(and(eq(alerts.kind, KIND), isNull(alerts.resolvedAt)))
    const ended = open.filter(({ tenantId }) => !byTenant.has(tenantId))
    const events: ChangeEvent[] = await resolveAlerts(
      tx,
      ended.map(({ tenantId }) => ({ tenantId, nodeId: null, kinds: [KIND] })),
    )
    const raised = [...byTenant].flatMap(([tenantId, all]) => {
      const evidence: ScheduleEvidence = { schedules: all.map(({ name, dueAt, run, reason }) => ({ name, dueAt, run, reason })) }
      const known = open.find((alert) => alert.tenantId === tenantId)
      return known && isSame(known, evidence) ? [] : [{ tenantId, nodeId: null, kind: KIND, evidence } as const]
    })
    events.push(...(await raiseAlerts(tx, raised)))
    for (const event of events) ctx.notify(event)
    return failed.length
  })
}

/** The same failures: a new one of the same schedule counts again. */
const isSame = ({ evidence }: Pick<Alert, 'evidence'>, other: ScheduleEvidence): boolean =>
  keyOf(evidence as ScheduleEvidence) === keyOf(other)
const keyOf = ({ schedules }: ScheduleEvidence): string => JSON.stringify(schedules.map(({ name, dueAt }) => [name, dueAt]))
