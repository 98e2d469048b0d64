import { expect, test } from 'vitest'
import { slurmJob, slurmNode, slurmPartition, slurmReservation } from '../../testing/slurm-fixture.ts'
import { type EstimateInput, estimateStarts, type StartRequest } from './start-estimate.ts'

const NOW = Date.UTC(2026, 0, 1)
const MINUTE = 60_000
const later = (minutes: number) => new Date(NOW + minutes * MINUTE)
const node = (name: string, changes: Parameters<typeof slurmNode>[1] = {}) =>
  slurmNode(name, {
    ...{ partitions: ['batch'], states: ['IDLE'], cpus: 8, allocatedCpus: 0, memory: 1000, allocatedMemory: 0 },
    gres: [{ name: 'gpu', type: 'h100', count: 4, indexes: null }],
    gresUsed: [],
    ...changes,
  })
const batch = slurmPartition('batch', { maxTime: 600, nodes: 'n[1-2]' })
const running = (id: number, nodes: string, endsIn: number | null, changes: Parameters<typeof slurmJob>[1] = {}) =>
  slurmJob(id, { nodes, nodeCount: 1, cpus: 8, endAt: endsIn === null ? null : later(endsIn), gres: [], tres: {}, ...changes })
const waiting = (id: number, changes: Parameters<typeof slurmJob>[1] = {}) =>
  slurmJob(id, {
    ...{ states: ['PENDING'], nodes: '', nodeCount: 1, cpus: 8, partition: 'batch', reason: 'Resources', timeLimit: 30 },
    ...{ gres: [], tres: {}, priority: 10 },
    ...changes,
  })
const REQUEST: StartRequest = { nodes: 1, cpus: 8, memoryMiB: 0, gpus: 0, gpuType: null, timeLimitMinutes: 60 }
const estimate = (state: Partial<EstimateInput>, request: Partial<StartRequest> = {}) =>
  estimateStarts(
    { nodes: [node('n1'), node('n2')], partitions: [batch], jobs: [], reservations: [], ...state },
    { ...REQUEST, ...request },
    NOW,
  )[0]!
const minutes = ({ startAt }: { startAt: number | null }) => startAt && (startAt - NOW) / MINUTE

test('starts at once on free nodes', () => {
  expect(estimate({}, { nodes: 2 })).toMatchObject({ startAt: NOW, nodes: ['n1', 'n2'], jobsAhead: 0, blockedReason: null })
})

test('waits until enough jobs end by their time limits', () => {
  const jobs = [running(1, 'n1', 20), running(2, 'n2', 50)]
  expect(minutes(estimate({ jobs }))).toBe(20)
  expect(minutes(estimate({ jobs }, { nodes: 2 }))).toBe(50)
  expect(minutes(estimate({ jobs: [running(1, 'n1', 20, { cpus: 4 }), running(2, 'n2', null)] }, { cpus: 4 }))).toBe(0)
})

test('places pending jobs by priority first, except those that wait for something else', () => {
  const jobs = [running(1, 'n1', 20), running(2, 'n2', 50), waiting(3), waiting(4, { reason: 'JobHeldUser' })]
  expect(estimate({ jobs })).toMatchObject({ jobsAhead: 1 })
  expect(minutes(estimate({ jobs }))).toBe(50)
  expect(minutes(estimate({ jobs: [...jobs, waiting(5, { priority: 99 })] }))).toBe(80 - 30)
})

test('counts GPUs by type, also those of jobs without a listed type', () => {
  const busy = node('n1', { gresUsed: [{ name: 'gpu', type: 'h100', count: 4, indexes: null }] })
  const jobs = [running(1, 'n1', 40, { cpus: 1, gres: [{ name: 'gpu', type: null, count: 4, indexes: null }] })]
  const state = { nodes: [busy], jobs }
  expect(minutes(estimate(state, { cpus: 1, gpus: 1, gpuType: 'h100' }))).toBe(40)
  expect(minutes(estimate(state, { cpus: 1, gpus: 2 }))).toBe(40)
  expect(estimate(state, { gpus: 1, gpuType: 'a100' }).blockedReason).toContain('enough nodes')
})

test('places pending jobs with their memory and GPUs', () => {
  const tenMinutes = { cpus: 1, timeLimit: 10 }
  const memory = waiting(1, { ...tenMinutes, tres: { mem: 1200 }, nodeCount: 2 })
  expect(minutes(estimate({ jobs: [memory] }, { cpus: 1, memoryMiB: 400 }))).toBe(0)
  expect(minutes(estimate({ jobs: [memory] }, { cpus: 1, memoryMiB: 401 }))).toBe(10)
  const gpus = waiting(1, { ...tenMinutes, gres: [{ name: 'gpu', type: null, count: 6, indexes: null }], nodeCount: 2 })
  expect(minutes(estimate({ jobs: [gpus] }, { cpus: 1, gpus: 1 }))).toBe(0)
  expect(minutes(estimate({ jobs: [gpus] }, { cpus: 1, gpus: 2 }))).toBe(10)
})

test('leaves out nodes out of service, and reserved ones until the end of the reservation', () => {
  const drained = node('n1', { states: ['IDLE', 'DRAIN'] })
  expect(estimate({ nodes: [drained, node('n2')] }).nodes).toEqual(['n2'])
  const reservations = [{ ...slurmReservation('x'), nodes: 'n[1-2]', startAt: later(30), endAt: later(90) }]
  expect(minutes(estimate({ reservations }, { timeLimitMinutes: 30 }))).toBe(0)
  expect(minutes(estimate({ reservations }))).toBe(90)
})

test('names what prevents a start', () => {
  expect(estimate({ partitions: [{ ...batch, state: 'DOWN' }] }).blockedReason).toBe('The partition is DOWN.')
  expect(estimate({}, { timeLimitMinutes: 601 }).blockedReason).toContain('600 min')
  expect(estimate({}, { memoryMiB: 1001 }).blockedReason).toContain('enough nodes')
  expect(estimate({ jobs: [running(1, 'n[1-2]', null, { cpus: 16 })] }).blockedReason).toContain('without a time limit')
})

test('gives up when there is too much to place', () => {
  const state = { nodes: [node('n1')], partitions: [batch], jobs: [], reservations: [] }
  expect(estimateStarts(state, REQUEST, NOW, () => true)[0]).toMatchObject({
    startAt: null,
    blockedReason: expect.stringContaining('too many'),
  })
})
