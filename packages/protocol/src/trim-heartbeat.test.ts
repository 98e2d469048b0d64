import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Heartbeat } from './heartbeat.ts'
import { trimHeartbeat } from './trim-heartbeat.ts'

const good = {
  node_id: 'node-001',
  cluster_id: 'hpc-1',
  sequence_number: 1,
  timestamp: '2026-01-15T10:30:00Z',
  capacity: { cpu_cores_total: 64 },
  health: { status: 'healthy' },
}
const measurement = { target_node_id: 'b', latency_us: 3 }

test('cuts long lists and texts, and drops other values out of their bounds', () => {
  const trimmed = trimHeartbeat({
    ...good,
    boot_epoch: null,
    agent_version: 'v'.repeat(99),
    health: {
      status: 'healthy',
      cpu_utilization_percent: 101,
      memory_utilization_percent: 7,
      last_error_message: 'e'.repeat(2000),
    },
    latency: {
      measurements: [
        null,
        { target_node_id: null },
        { ...measurement, packet_loss_percent: -1 },
        ...Array(300).fill(measurement),
      ],
    },
    jobs: { running_count: 4, pending_count: -1, active_job_ids: Array(5000).fill('7') },
    later: { x: 1 },
  })!
  expect(trimmed).toMatchObject({
    health: { cpu_utilization_percent: null, memory_utilization_percent: 7, last_error_message: 'e'.repeat(1024) },
    ...{ agent_version: 'v'.repeat(64), jobs: { running_count: 4, pending_count: null }, later: { x: 1 } },
  })
  expect(trimmed.jobs!.active_job_ids).toHaveLength(4096)
  expect(trimmed.latency!.measurements!.every((each) => each.target_node_id === 'b' && each.packet_loss_percent == null)).toBe(
    true,
  )
})

test.each([
  { node_id: 'x' },
  { sequence_number: 0 },
  { boot_epoch: -1 },
  { capacity: { cpu_cores_total: 0 } },
  { capacity: { cpu_cores_total: 4, gpus_total: 2, gpus_available: 3 } },
  { health: { status: 'fine' } },
])('gives up on %j', (wrong) => {
  expect(trimHeartbeat({ ...good, ...wrong })).toBeNull()
})

test('never throws, and returns valid heartbeats only', () => {
  fc.assert(
    fc.property(
      fc.object({ key: fc.constantFrom('latency', 'measurements', 'jobs', 'health', 'status', 'reasons', '__x'), maxDepth: 3 }),
      (wild) => {
        const trimmed = trimHeartbeat({ ...good, ...wild })
        if (trimmed) expect(Heartbeat.safeParse(trimmed).success).toBe(true)
      },
    ),
  )
})
