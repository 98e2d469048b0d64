import type { Ctx } from '@muster/core/context'
import { schema, visibleTo } from '@muster/core/db'
import { QUEUES, type QueueName } from '@muster/core/queue'
import { and, eq } from 'drizzle-orm'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** All figures of this worker, served at /metrics. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry, prefix: 'muster_worker_' })

const duration = (name: string, help: string, buckets: number[]) =>
  new Histogram({ name, help, labelNames: ['result'], buckets, registers: [registry] })

export const connectionTestDuration = duration(
  'muster_connection_test_duration_seconds',
  'Connection tests done, by result (ok, failed), with their duration.',
  [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
)
export const discoveryDuration = duration(
  'muster_discovery_duration_seconds',
  'Discoveries done, by result (ok, failed), with their duration.',
  [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
)
const jobRunDuration = duration(
  'muster_job_run_duration_seconds',
  'Job runs handled, by the status they ended with, with the time the worker spent on them.',
  [1, 5, 15, 60, 300, 900, 3600, 14_400],
)

export const alertMessages = new Counter({
  name: 'muster_alert_messages_total',
  help: 'Attempts to send a message of alerts, by the kind of its route and result (ok, failed).',
  labelNames: ['kind', 'result'],
  registers: [registry],
})

/** Measures what the worker does with a run, by the status that the run ends with. */
export async function measured(ctx: Ctx, runId: string, work: () => Promise<void>): Promise<void> {
  const end = jobRunDuration.startTimer()
  await work()
  const { jobRuns } = schema
  const [run] = await ctx.db
    .select({ status: jobRuns.status })
    .from(jobRuns)
    .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, runId)))
  end({ result: run?.status ?? 'NONE' })
}

/** @param depths entries that wait per queue, read at every scrape */
export function measureQueues(depths: () => Promise<Record<QueueName, number>>): void {
  new Gauge({
    name: 'muster_queue_depth',
    help: 'Entries that wait for a worker, by queue.',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      const now = await depths()
      for (const queue of QUEUES) this.set({ queue }, now[queue])
    },
  })
}
