import { expect, test } from 'vitest'
import type { FleetCluster, HeartbeatUpdate } from './documents.ts'
import { applyHeartbeats, cellPitch, countStates, moveCell } from './fleet.ts'

const cluster = (name: string, names: string[]): FleetCluster => ({
  cluster: name,
  region: null,
  datacenter: null,
  nodes: names.map((each) => ({ name: each, state: 'ACTIVE' as const, cpuPercent: null, memoryPercent: null })),
})
const heartbeat = (name: string, more: Partial<HeartbeatUpdate> = {}): HeartbeatUpdate => ({
  nodeId: name,
  name,
  state: 'STALE',
  stateSince: '',
  receivedAt: null,
  sequence: 1,
  skewMs: 0,
  health: 'HEALTHY',
  cpuPercent: 40,
  memoryPercent: 50,
  ...more,
})

test('a heartbeat updates only the cell of its node', () => {
  const before = [cluster('a', ['a1', 'a2']), cluster('b', ['b1'])]
  const { fleet, isComplete } = applyHeartbeats(before, [
    heartbeat('a2'),
    heartbeat('a1', { state: 'OFFLINE', cpuPercent: null }),
  ])
  expect(isComplete).toBe(true)
  expect(fleet[0]).toMatchObject({
    nodes: [
      { name: 'a1', state: 'OFFLINE', cpuPercent: null, memoryPercent: 50 },
      { name: 'a2', state: 'STALE', cpuPercent: 40, memoryPercent: 50 },
    ],
  })
  expect(fleet[1]).toBe(before[1])
  expect(before[0]!.nodes.map(({ state }) => state)).toEqual(['ACTIVE', 'ACTIVE'])
  expect(countStates(fleet)).toMatchObject({ ACTIVE: 1, STALE: 1, OFFLINE: 1, PENDING: 0 })
})

test('a heartbeat of an unknown node requires a reload', () => {
  expect(applyHeartbeats([cluster('a', ['a1'])], [heartbeat('new')]).isComplete).toBe(false)
})

test('ten thousand cells fit on a screen and few cells have a limited size', () => {
  const pitch = cellPitch(10_000, 1100, 480)
  expect(Math.ceil(10_000 / Math.floor(1100 / pitch)) * pitch).toBeLessThan(520)
  expect(cellPitch(3, 1100, 480)).toBe(26)
  expect(cellPitch(10_000, 340, 480)).toBeGreaterThanOrEqual(5)
})

test('arrow keys stay within the grid', () => {
  expect([moveCell('ArrowRight', 0, 5, 12), moveCell('ArrowDown', 1, 5, 12), moveCell('End', 0, 5, 12)]).toEqual([1, 6, 11])
  expect([moveCell('ArrowLeft', 0, 5, 12), moveCell('ArrowDown', 9, 5, 12), moveCell('Enter', 3, 5, 12)]).toEqual([0, 9, null])
})
