import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Figures of what comes in from agents; the endpoint counts, /metrics shows. */
export function heartbeatMetrics(registry: Registry) {
  const registers = [registry]
  return {
    accepted: new Counter({
      name: 'muster_heartbeats_accepted_total',
      help: 'Heartbeats that were stored for good.',
      registers,
    }),
    /** `code` is what the agent was answered: stale_sequence, signature_invalid, invalid_request, busy (429) and so on. */
    rejected: new Counter({
      name: 'muster_heartbeats_rejected_total',
      help: 'Heartbeats that were turned away, by the code that the agent was answered.',
      labelNames: ['code'] as const,
      registers,
    }),
    lag: new Histogram({
      name: 'muster_heartbeat_ingest_seconds',
      help: 'From the last byte of a heartbeat to its COMMIT.',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    queued: new Gauge({
      name: 'muster_heartbeats_queued',
      help: 'Heartbeats that are checked and wait for the next commit.',
      registers,
    }),
  }
}
export type HeartbeatMetrics = ReturnType<typeof heartbeatMetrics>
