import type { Ctx } from '@muster/core/context'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/** Metrics of this worker, served at /metrics. */
export const registry = new Registry()
collectDefaultMetrics({ register: registry, prefix: 'muster_worker_' })
// promtool rejects these gauges, because `_total` is the suffix of counters. The metrics per type contain the same counts.
for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`muster_worker_nodejs_active_${name}_total`)

const duration = (name: string, help: string, buckets: number[]) =>
  new Histogram({ name, help, labelNames: ['result'], buckets, registers: [registry] })

export const connectionTestDuration = duration(
  'muster_connection_test_duration_seconds',
  'Duration of connection tests, by result (ok, failed).',
  [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
)
export const discoveryDuration = duration(
  'muster_discovery_duration_seconds',
  'Duration of discoveries, by result (ok, failed).',
  [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
)
/** Its name and buckets are a contract with the dashboards of sites. */
export const slurmConnectionDuration = duration(
  'slurm_ssh_connection_duration_seconds',
  'Duration of SSH logins to controllers of Slurm clusters, by result (ok, failed).',
  [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
)
const scaleCounter = (result: 'attempts' | 'success' | 'failed', help: string) =>
  new Counter({ name: `slurm_node_scale_${result}_total`, help, labelNames: ['cluster'], registers: [registry] })
/** Their names are a contract with the dashboards of sites. Counted at the end of a creation or scale-out. */
export const slurmNodeScale = {
  attempts: scaleCounter('attempts', 'Nodes that operations tried to add to managed Slurm clusters.'),
  success: scaleCounter('success', 'Nodes that were added to managed Slurm clusters.'),
  failed: scaleCounter('failed', 'Nodes that could not be added to managed Slurm clusters.'),
}
const jobRunDuration = duration(
  'muster_job_run_duration_seconds',
  'Time that the worker spent on job runs, by their final status.',
  [1, 5, 15, 60, 300, 900, 3600, 14_400],
)

export const auditDeliveries = new Counter({
  name: 'muster_audit_deliveries_total',
  help: 'Attempts to deliver audit entries to sinks, by kind of sink and result (ok, failed).',
  labelNames: ['kind', 'result'],
  registers: [registry],
})

export const alertMessages = new Counter({
  name: 'muster_alert_messages_total',
  help: 'Attempts to deliver alert messages, by kind of route and result (ok, failed).',
  labelNames: ['kind', 'result'],
  registers: [registry],
})

/** Measures the time spent on a run, by its final status. */
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
