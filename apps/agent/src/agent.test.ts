import fs from 'node:fs'
import path from 'node:path'
import { newIdentity } from '@muster/protocol/agent'
import { afterEach, expect, test } from 'vitest'
import { position, rejection, startFakeApi } from '../test/fake-api.ts'
import { createTempDir } from '../test/temp-files.ts'
import { Agent } from './agent.ts'
import { createApiClient } from './api-client.ts'
import type { Measurements } from './collect/index.ts'
import { readConfig } from './config.ts'
import { createLogger } from './log.ts'
import { register } from './register.ts'

const identity = newIdentity()
const measurements: Measurements = {
  capacity: { cpu_cores_total: 4 },
  health: { status: 'healthy' },
  hardware_fingerprint: 'f'.repeat(64),
}
const log = { ...createLogger('error'), warn: () => {} }
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function setUp(respond?: Parameters<typeof startFakeApi>[0], stateDir = createTempDir()) {
  const fakeApi = await startFakeApi(respond)
  cleanups.push(fakeApi.stop)
  const reportedProblems: string[][] = []
  const start = (interval = 30) => {
    const stop = new AbortController()
    const api = createApiClient(fakeApi.url, undefined, '1', stop.signal)
    const names = { nodeId: 'node-1', clusterId: 'c' }
    const { config } = readConfig(['--config', '/dev/null', '--hostname', 'n'])
    const agent = new Agent({
      ...names,
      stateDir,
      interval,
      initialDelay: 0,
      version: '1',
      identity,
      api,
      log,
      collect: async (problems) => {
        reportedProblems.push(problems)
        return measurements
      },
      register: (measured) => register(api, config, names, identity, measured, '1', 'token'),
    })
    const ended = agent.run(stop.signal)
    const stopAgent = async () => {
      stop.abort()
      await ended
    }
    cleanups.push(stopAgent)
    return { agent, stop: stopAgent }
  }
  return { fakeApi, start, stateDir, reportedProblems }
}
const spoolFiles = (stateDir: string) => fs.readdirSync(path.join(stateDir, 'spool'))

test('registers with token and proof, then sends heartbeats in sequence', async () => {
  const { fakeApi, start } = await setUp()
  const { agent, stop } = start()
  await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(3)
  await stop()
  expect(fakeApi.registrations).toMatchObject([
    { node_id: 'node-1', enrollment_token: 'token', agent_pubkey: identity.publicKey.base64 },
  ])
  expect(fakeApi.accepted.map(({ sequence_number }) => sequence_number)).toEqual(fakeApi.accepted.map((_, i) => i + 1))
  expect(fakeApi.violations).toEqual([])
  expect(agent.status()).toMatchObject({ registered: true, last_error: null, failed_heartbeats: 0, node_id: 'node-1' })
})

test('persists undelivered heartbeats across a restart and delivers them in order', async () => {
  const { fakeApi, start, stateDir } = await setUp()
  const first = start(200)
  await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(1)
  await fakeApi.stop()
  await expect.poll(() => first.agent.status().last_error?.code).toBe('connection_failed')
  await expect.poll(() => first.agent.status().waiting_heartbeats).toBeGreaterThan(3)
  await first.stop()
  const waiting = spoolFiles(stateDir).length
  expect(waiting).toBeGreaterThan(3)

  await fakeApi.restart()
  const before = fakeApi.accepted.length
  const second = start(2000)
  await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(before + waiting)
  await expect.poll(() => second.agent.status().waiting_heartbeats).toBeLessThan(3)
  const positions = fakeApi.accepted.map(position)
  expect(positions).toEqual(positions.toSorted((a, b) => a - b))
  const epochs = new Set(fakeApi.accepted.map(({ boot_epoch }) => boot_epoch))
  expect(epochs.size).toBe(2)
  const firstEpoch = fakeApi.accepted.filter(({ boot_epoch }) => boot_epoch === Math.min(...(epochs as Set<number>)))
  expect(firstEpoch.map(({ sequence_number }) => sequence_number)).toEqual(firstEpoch.map((_, i) => i + 1))
  expect(fakeApi.violations).toEqual([])
})

test('a late heartbeat carries its time of measurement and the current time, names and fingerprint', async () => {
  const { fakeApi, start, stateDir } = await setUp()
  const measuredAt = new Date(Date.now() - 1_800_000)
  fs.mkdirSync(path.join(stateDir, 'spool'))
  const file = path.join(stateDir, 'spool', `${'5'.padStart(14, '0')}-${'7'.padStart(14, '0')}.json`)
  const persisted = {
    node_id: 'old-name',
    cluster_id: 'old',
    boot_epoch: 5,
    sequence_number: 7,
    measured_at: measuredAt.toISOString(),
    ...measurements,
    hardware_fingerprint: 'previous board',
  }
  fs.writeFileSync(file, JSON.stringify(persisted))
  start()
  await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(1)
  expect(fakeApi.accepted[0]).toMatchObject({ boot_epoch: 5, sequence_number: 7, measured_at: measuredAt.toISOString() })
  const { hardware_fingerprint } = measurements
  for (const heartbeat of fakeApi.accepted)
    expect(heartbeat).toMatchObject({ node_id: 'node-1', cluster_id: 'c', hardware_fingerprint })
  expect(fakeApi.violations).toEqual([])
  await expect.poll(() => fs.existsSync(file)).toBe(false)
})

test('an invalid heartbeat does not block the queue', async () => {
  const { fakeApi, start } = await setUp(({ sequence_number }) =>
    sequence_number === 2 ? { status: 400, ...rejection('invalid_request') } : undefined,
  )
  const { agent } = start()
  await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(2)
  expect(fakeApi.accepted.map(({ sequence_number }) => sequence_number).slice(0, 3)).toEqual([1, 3, 4])
  expect(agent.status().failed_heartbeats).toBe(1)
})

test('honors Retry-After', async () => {
  const attempts: number[] = []
  const { fakeApi, start } = await setUp(() => {
    attempts.push(performance.now())
    return attempts.length === 1 ? { status: 429, headers: { 'retry-after': '2' }, body: {} } : undefined
  })
  const { agent } = start()
  await expect.poll(() => agent.status().last_error?.code).toBe('http_429')
  await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(0)
  // A busy machine can only lengthen the wait.
  expect(attempts[1]! - attempts[0]!).toBeGreaterThan(1990)
  expect(fakeApi.accepted[0]!.sequence_number).toBe(1)
})

test('persists heartbeats that are measured while it waits for the next attempt', async () => {
  const { start, stateDir } = await setUp(() => ({ status: 429, headers: { 'retry-after': '3600' }, body: {} }))
  start()
  await expect.poll(() => spoolFiles(stateDir).length).toBeGreaterThan(3)
})

test('applies the interval from the API', async () => {
  const { fakeApi, start } = await setUp((heartbeat) => {
    fakeApi.accepted.push(heartbeat)
    return { body: { accepted: true, next_heartbeat_seconds: 3600 } }
  })
  const { agent } = start()
  await expect.poll(() => agent.status().interval_seconds).toBe(3600)
})

test('applies a shorter interval immediately', async () => {
  const { fakeApi, start } = await setUp((heartbeat) => {
    fakeApi.accepted.push(heartbeat)
    return { body: { accepted: true, next_heartbeat_seconds: 0.05 } }
  })
  start(3_600_000)
  await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(2)
})

test('registers again when the API no longer knows the node', async () => {
  let isUnknown = false
  const { fakeApi, start } = await setUp(() => {
    if (!isUnknown) return
    isUnknown = false
    return rejection('node_not_registered')
  })
  start()
  await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(1)
  isUnknown = true
  await expect.poll(() => fakeApi.registrations.length).toBe(2)
})

test('continues and reports the problem when the state folder is not writable', async () => {
  const stateDir = path.join(createTempDir(), 'file')
  fs.writeFileSync(stateDir, '')
  const { fakeApi, start, reportedProblems } = await setUp(undefined, stateDir)
  const { agent } = start(1000)
  await expect.poll(() => fakeApi.accepted.length).toBeGreaterThan(1)
  expect(agent.status().problems.join()).toMatch(/the sequence cannot be saved/)
  expect(reportedProblems.at(-1)?.join()).toMatch(/the sequence cannot be saved/)
  await fakeApi.stop()
  await expect.poll(() => agent.status().problems).toHaveLength(2)
  await fakeApi.restart()
  await expect.poll(() => agent.status().waiting_heartbeats).toBeLessThan(3)
  expect(fakeApi.accepted.map(({ sequence_number }) => sequence_number)).toEqual(fakeApi.accepted.map((_, i) => i + 1))
})
