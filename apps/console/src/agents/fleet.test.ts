import { expect, test } from 'vitest'
import type { FleetCluster, HeartbeatNews } from './documents.ts'
import { countStates, moved, pitchFor, withBeats } from './fleet.ts'

const cluster = (name: string, names: string[]): FleetCluster => ({
  cluster: name,
  region: null,
  datacenter: null,
  names,
  states: names.map(() => 'ACTIVE' as const),
  cpu: names.map(() => null),
  memory: names.map(() => null),
})
const beat = (name: string, more: Partial<HeartbeatNews> = {}): HeartbeatNews => ({
  nodeId: name,
  name,
  state: 'STALE',
  stateSince: '',
  heardAt: null,
  sequence: 1,
  skewMs: 0,
  health: 'healthy',
  cpuPercent: 40,
  memoryPercent: 50,
  ...more,
})

test('beats change the cells of their nodes and nothing else', () => {
  const before = [cluster('a', ['a1', 'a2']), cluster('b', ['b1'])]
  const { fleet, isComplete } = withBeats(before, [beat('a2'), beat('a1', { state: 'OFFLINE', cpuPercent: null })])
  expect(isComplete).toBe(true)
  expect(fleet[0]).toMatchObject({ states: ['OFFLINE', 'STALE'], cpu: [null, 40], memory: [50, 50] })
  expect(fleet[1]).toBe(before[1])
  expect(before[0]!.states).toEqual(['ACTIVE', 'ACTIVE'])
  expect(countStates(fleet)).toMatchObject({ ACTIVE: 1, STALE: 1, OFFLINE: 1, PENDING: 0 })
})

test('a beat of a node that is not there yet asks for another reading', () => {
  expect(withBeats([cluster('a', ['a1'])], [beat('new')]).isComplete).toBe(false)
})

test('ten thousand cells fit on a screen, and few of them are not huge', () => {
  const pitch = pitchFor(10_000, 1100, 480)
  expect(Math.ceil(10_000 / Math.floor(1100 / pitch)) * pitch).toBeLessThan(520)
  expect(pitchFor(3, 1100, 480)).toBe(26)
  expect(pitchFor(10_000, 340, 480)).toBeGreaterThanOrEqual(5)
})

test('keys move within the grid and never out of it', () => {
  expect([moved('ArrowRight', 0, 5, 12), moved('ArrowDown', 1, 5, 12), moved('End', 0, 5, 12)]).toEqual([1, 6, 11])
  expect([moved('ArrowLeft', 0, 5, 12), moved('ArrowDown', 9, 5, 12), moved('Enter', 3, 5, 12)]).toEqual([0, 9, null])
})
