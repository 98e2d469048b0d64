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

const READ_TIMEOUT_MS = 5000
/** Result of a read; null when the database fails or does not answer in time, so that a scrape still returns the other metrics. */
const readWithTimeout = <T>(reading: Promise<T>): Promise<T | null> =>
  Promise.race([reading.catch(() => null), setTimeout(READ_TIMEOUT_MS, null, { ref: false })])

/** Metrics of the whole installation, read at each scrape. They are omitted while the database is unavailable. */
export function installationMetrics(registry: Registry, db: Db): void {
  const gaugeByLabel = (
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
        const counts = await readWithTimeout(read())
        if (counts) for (const value of values) this.set({ [label]: value }, counts.get(value) ?? 0)
      },
    })
  gaugeByLabel('muster_agents', 'Agents of all tenants, by state.', 'state', AGENT_STATES, async () => {
    const rows = await db.select({ key: agents.state, count: count() }).from(agents).groupBy(agents.state)
    return new Map(rows.map((row) => [row.key, row.count]))
  })
  gaugeByLabel('muster_alerts_open', 'Unresolved alerts of all tenants, by severity.', 'severity', SEVERITIES, async () => {
    const open = db.select({ key: alerts.severity, count: count() }).from(alerts).where(isNull(alerts.resolvedAt))
    return new Map((await open.groupBy(alerts.severity)).map((row) => [row.key, row.count]))
  })
  gaugeByLabel(
    'muster_workers',
    'Workers by state: active, draining, or lost (no report for 30 seconds).',
    'state',
    WORKER_STATES,
    async () => {
      const state = sql<string>`case when last_seen_at < now() - ${WORKER_LOST_AFTER} then 'lost'
      when drained_at is not null then 'draining' else 'active' end`
      const rows = await db.select({ key: state, count: count() }).from(workers).groupBy(state)
      return new Map(rows.map((row) => [row.key, row.count]))
    },
  )
  gaugeByLabel('muster_queue_depth', 'Queue entries that wait for a worker, by queue.', 'queue', QUEUE_NAMES, async () => {
    const backlogs = await queueBacklogs(db)
    return new Map(QUEUE_NAMES.map((queue) => [queue, backlogs.get(queue)?.depth ?? 0]))
  })
  gaugeByLabel(
    'muster_queue_oldest_seconds',
    'Age of the oldest queue entry that waits for a worker, by queue; 0 when the queue is empty.',
    'queue',
    QUEUE_NAMES,
    async () => {
      const backlogs = await queueBacklogs(db)
      return new Map(QUEUE_NAMES.map((queue) => [queue, backlogs.get(queue)?.oldestSeconds ?? 0]))
    },
  )
  new Gauge({
    name: 'muster_alert_routes_failing',
    help: 'Alert routes with failing delivery.',
    registers: [registry],
    async collect() {
      const failing = await readWithTimeout(db.$count(alertRoutes, isNotNull(alertRoutes.failingSince)))
      this.reset()
      if (failing === null) this.remove()
      else this.set(failing)
    },
  })
}
