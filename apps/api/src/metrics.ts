import type { Db } from '@muster/core/db'
import { cachedMetrics } from '@muster/core/metrics'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { heartbeatMetrics } from './http/agents/metrics.ts'
import { installationMetrics } from './http/prometheus/installation-metrics.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** Metrics of the API process. `read()` returns them as text. */
export function createMetrics(db: Db) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  // promtool rejects these gauges, because `_total` is the suffix of counters. The metrics per type contain the same counts.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`)
  installationMetrics(registry, db)
  return {
    registry,
    read: cachedMetrics(registry),
    heartbeats: heartbeatMetrics(registry),
    operations: new Histogram({
      name: 'muster_api_operation_seconds',
      help: 'Duration of GraphQL operations; for subscriptions until they end.',
      labelNames: ['type', 'outcome'] as const,
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers: [registry],
    }),
    subscriptions: new Gauge({ name: 'muster_api_subscriptions', help: 'Active GraphQL subscriptions.', registers: [registry] }),
    triggers: new Counter({
      name: 'muster_trigger_requests_total',
      help: 'Requests to webhook triggers, by status of the response.',
      labelNames: ['status'] as const,
      registers: [registry],
    }),
    rejected: new Counter({
      name: 'muster_api_rejected_requests_total',
      help: 'Requests rejected before execution, by error code.',
      labelNames: ['code'] as const,
      registers: [registry],
    }),
  }
}
