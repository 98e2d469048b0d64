import { setTimeout } from 'node:timers/promises'
import { AGENT_STATES } from '@muster/core/agents'
import { SEVERITIES } from '@muster/core/alerts'
import type { Db } from '@muster/core/db'
import { queueBacklogs } from '@muster/core/queue'
import { queues, schema } from '@muster/core/registry'
import { count, isNotNull, isNull, sql } from 'drizzle-orm'
import { Gauge, type Registry } from 'prom-client'

const QUEUE_NAMES = queues.map(({ name }) => name)

const { agents, alertRoutes, alerts, workers } = schema
const WORKER_STATES = ['active', 'draining', 'lost'] as const
/** A worker reports every five seconds. */
const WORKER_LOST_AFTER = sql`interval '30 seconds'`

const PATIENCE_MS = 5000
/** Null when the database does not answer, or not soon: the other figures are wanted all the more then. */
const readSoon = <T>(reading: Promise<T>): Promise<T | null> =>
  Promise.race([reading.catch(() => null), setTimeout(PATIENCE_MS, null, { ref: false })])

/** Figures of the whole installation, read at each scrape. While the database is away they are left out. */
export function installationMetrics(registry: Registry, db: Db): void {
  const counted = (
    name: string,
    help: string,
    label: string,
    values: readonly string[],
    read: () => Promise<Map<string, number>>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      async collect() {
        this.reset()
        const now = await readSoon(read())
        if (now) for (const value of values) this.set({ [label]: value }, now.get(value) ?? 0)
      },
    })
  counted('muster_agents', 'Agents by state, in all tenants.', 'state', AGENT_STATES, async () => {
    const rows = await db.select({ key: agents.state, count: count() }).from(agents).groupBy(agents.state)
    return new Map(rows.map((row) => [row.key, row.count]))
  })
  counted('muster_alerts_open', 'Alerts that are not over, by severity, in all tenants.', 'severity', SEVERITIES, async () => {
    const open = db.select({ key: alerts.severity, count: count() }).from(alerts).where(isNull(alerts.resolvedAt))
    return new Map((await open.groupBy(alerts.severity)).map((row) => [row.key, row.count]))
  })
  counted(
    'muster_workers',
    'Workers by state: active, draining, lost (no sign of life for 30 seconds).',
    'state',
    WORKER_STATES,
    async () => {
      const state = sql<string>`case when last_seen_at < now() - ${WORKER_LOST_AFTER} then 'lost'
      when draining_at is not null then 'draining' else 'active' end`
      const rows = await db.select({ key: state, count: count() }).from(workers).groupBy(state)
      return new Map(rows.map((row) => [row.key, row.count]))
    },
  )
  counted('muster_queue_depth', 'Entries that wait for a worker, by queue.', 'queue', QUEUE_NAMES, async () => {
    const backlogs = await queueBacklogs(db)
    return new Map(QUEUE_NAMES.map((queue) => [queue, backlogs.get(queue)?.depth ?? 0]))
  })
  counted(
    'muster_queue_oldest_seconds',
    'Age of the oldest entry that waits for a worker, by queue.',
    'queue',
    QUEUE_NAMES,
    async () => {
      const backlogs = await queueBacklogs(db)
      return new Map(QUEUE_NAMES.map((queue) => [queue, backlogs.get(queue)?.oldestSeconds ?? 0]))
    },
  )
  new Gauge({
    name: 'muster_alert_routes_failing',
    help: 'Ways for alerts on which nothing goes through.',
    registers: [registry],
    async collect() {
      const failing = await readSoon(db.$count(alertRoutes, isNotNull(alertRoutes.failingSince)))
      this.reset()
      if (failing === null) this.remove()
      else this.set(failing)
    },
  })
}
