import { expect, test } from 'vitest'
import { Heartbeat } from './index.ts'

/** Heartbeat of a third-party agent, which sends 0 for unknown counts. */
const thirdParty = {
  node_id: 'node-001',
  cluster_id: 'hpc-cluster-1',
  sequence_number: 42,
  timestamp: '2024-01-15T10:30:00.123456789Z',
  agent_version: '0.1.0',
  capacity: {
    cpu_cores_total: 64,
    cpu_cores_available: 64,
    cpu_cores_allocated: 0,
    memory_gb_total: 512,
    memory_gb_available: 256,
  },
  health: { status: 'healthy', uptime_seconds: 86400, load_average_1m: '0.500000', cpu_utilization_percent: 45 },
  latency: { gateway_latency_us: 1000, chain_latency_ms: 0, avg_cluster_latency_us: 200 },
  jobs: { running_count: 4, pending_count: 2, completed_24h: 100, failed_24h: 1 },
  services: { slurmd_running: true, slurmd_version: '23.02.4', munge_running: true },
}
const withValue = (path: string, value: unknown) => {
  const changed = structuredClone(thirdParty) as Record<string, unknown>
  const names = path.split('.')
  const parent = names.slice(0, -1).reduce((at, name) => at[name] as Record<string, unknown>, changed)
  parent[names.at(-1)!] = value
  return changed
}

test('accepts a third-party heartbeat and preserves unknown fields', () => {
  const extended = { ...thirdParty, later: { x: 1 } }
  expect(Heartbeat.parse(extended)).toEqual(extended)
})

test.each([
  ['node_id', ['abc', 'a'.repeat(65), 'node 1', 'nöde', 'node/1', '', 7]],
  ['cluster_id', ['', null]],
  ['sequence_number', [0, -1, 1.5, 2 ** 53, '1']],
  ['timestamp', ['2024-01-15', 'yesterday', '2024-02-30T00:00:00Z', 1705315800]],
  ['boot_epoch', [-1, 0.5, '0']],
  ['capacity', [undefined, null, [], {}]],
  ['capacity.cpu_cores_total', [0, -1, 2 ** 31]],
  ['capacity.cpu_cores_available', [65, -1]],
  ['capacity.memory_gb_available', [513]],
  ['health.status', ['fine', null]],
  ['health.cpu_utilization_percent', [101, -1, Number.NaN]],
  ['health.load_average_1m', [0.5, '', '1e5', '-1']],
  ['jobs.running_count', [2 ** 31]],
  ['accelerators', [{}, [{ utilization_percent: 200 }]]],
])('rejects invalid %s', (path, values) => {
  for (const value of values) {
    const result = Heartbeat.safeParse(withValue(path, value))
    expect([value, result.error?.issues[0]?.path.join('.').startsWith(path)]).toEqual([value, true])
  }
})

test.each(['boot_epoch', 'latency', 'jobs', 'services', 'accelerators', 'agent_version'])('%s is optional', (path) => {
  expect(Heartbeat.safeParse(withValue(path, undefined)).success).toBe(true)
})

test.each(['health.uptime_seconds', 'capacity.gpus_total', 'jobs.running_count', 'latency', 'services.munge_running'])(
  '%s is nullable',
  (path) => expect(Heartbeat.safeParse(withValue(path, null)).success).toBe(true),
)

test('accepts a state in Slurm with a line for each of many partitions', () => {
  expect(Heartbeat.safeParse(withValue('health.slurm_state', 'drained\n'.repeat(500))).success).toBe(true)
})
