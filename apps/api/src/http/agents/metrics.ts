import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Metrics of the heartbeat endpoint. */
export function heartbeatMetrics(registry: Registry) {
  const registers = [registry]
  return {
    accepted: new Counter({
      name: 'muster_heartbeats_accepted_total',
      help: 'Heartbeats accepted and committed.',
      registers,
    }),
    /** `code` is the error code in the response, for example stale_sequence, signature_invalid or busy (429). */
    rejected: new Counter({
      name: 'muster_heartbeats_rejected_total',
      help: 'Heartbeats rejected, by error code.',
      labelNames: ['code'] as const,
      registers,
    }),
    lag: new Histogram({
      name: 'muster_heartbeat_ingest_seconds',
      help: 'Time from the last byte of a heartbeat to its commit.',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers,
    }),
    queued: new Gauge({
      name: 'muster_heartbeats_queued',
      help: 'Validated heartbeats that wait for the next commit.',
      registers,
    }),
  }
}
export type HeartbeatMetrics = ReturnType<typeof heartbeatMetrics>
