import fs from 'node:fs'
import path from 'node:path'
import { newIdentity } from '@muster/protocol/light'
import { afterEach, expect, test, vi } from 'vitest'
import { position, refuse, standInApi } from '../test/stand-in-api.ts'
import { folder } from '../test/tree.ts'
import { Agent } from './agent.ts'
import { api } from './api.ts'
import type { Measured } from './collect/index.ts'
import { readConfig } from './config.ts'
import { logger } from './log.ts'
import { register } from './register.ts'

const identity = newIdentity()
const measured: Measured = {
  capacity: { cpu_cores_total: 4 },
  health: { status: 'healthy' },
  hardware_fingerprint: 'f'.repeat(64),
}
const log = { ...logger('error'), warn: () => {} }
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})
const until = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 20 })

async function given(answer?: Parameters<typeof standInApi>[0], stateDir = folder()) {
  const stand = await standInApi(answer)
  ends.push(stand.down)
  const seen: string[][] = []
  const start = (interval = 30) => {
    const stop = new AbortController()
    const send = api(stand.url, undefined, '1', stop.signal)
    const names = { nodeId: 'node-1', clusterId: 'c' }
    const { config } = readConfig(['--config', '/dev/null', '--hostname', 'n'])
    const agent = new Agent({
      ...names,
      stateDir,
      interval,
      settle: 0,
      version: '1',
      identity,
      api: send,
      log,
      collect: async (problems) => {
        seen.push(problems)
        return measured
      },
      register: (what) => register(send, config, names, identity, what, '1', 'token'),
    })
    const ended = agent.run(stop.signal)
    const end = async () => {
      stop.abort()
      await ended
    }
    ends.push(end)
    return { agent, end }
  }
  return { stand, start, stateDir, seen }
}
const spooled = (stateDir: string) => fs.readdirSync(path.join(stateDir, 'spool'))

test('registers with its token and a proof, then beats, each beat later than the one before', async () => {
  const { stand, start } = await given()
  const { agent, end } = start()
  await until(() => expect(stand.accepted.length).toBeGreaterThan(3))
  await end()
  expect(stand.registrations).toMatchObject([
    { node_id: 'node-1', enrolment_token: 'token', agent_pubkey: identity.publicKey.base64 },
  ])
  expect(stand.accepted.map(({ sequence_number }) => sequence_number)).toEqual(stand.accepted.map((_, i) => i + 1))
  expect(stand.wrong).toEqual([])
  expect(agent.status()).toMatchObject({ registered: true, last_error: null, failed_heartbeats: 0, node_id: 'node-1' })
})

test('what could not be delivered is kept, over a restart, and delivered in order', async () => {
  const { stand, start, stateDir } = await given()
  const first = start(200)
  await until(() => expect(stand.accepted.length).toBeGreaterThan(1))
  await stand.down()
  await until(() => expect(first.agent.status().last_error?.code).toBe('connection_failed'))
  await until(() => expect(first.agent.status().waiting_heartbeats).toBeGreaterThan(3))
  await first.end()
  const waiting = spooled(stateDir).length
  expect(waiting).toBeGreaterThan(3)

  await stand.up()
  const before = stand.accepted.length
  const second = start(2000)
  await until(() => expect(stand.accepted.length).toBeGreaterThan(before + waiting))
  await until(() => expect(second.agent.status().waiting_heartbeats).toBeLessThan(3))
  const positions = stand.accepted.map(position)
  expect(positions).toEqual(positions.toSorted((a, b) => a - b))
  const epochs = new Set(stand.accepted.map(({ boot_epoch }) => boot_epoch))
  expect(epochs.size).toBe(2)
  // None is missing: the first epoch's numbers are without a gap.
  const ofFirst = stand.accepted.filter(({ boot_epoch }) => boot_epoch === Math.min(...(epochs as Set<number>)))
  expect(ofFirst.map(({ sequence_number }) => sequence_number)).toEqual(ofFirst.map((_, i) => i + 1))
  expect(stand.wrong).toEqual([])
})

test('a beat that waited says when it was measured, and is signed for the time, name and machine from which it is sent', async () => {
  const { stand, start, stateDir } = await given()
  const at = new Date(Date.now() - 1_800_000)
  fs.mkdirSync(path.join(stateDir, 'spool'))
  const file = path.join(stateDir, 'spool', `${'5'.padStart(14, '0')}-${'7'.padStart(14, '0')}.json`)
  const old = {
    node_id: 'old-name',
    cluster_id: 'old',
    boot_epoch: 5,
    sequence_number: 7,
    measured_at: at.toISOString(),
    ...measured,
    hardware_fingerprint: 'the board before',
  }
  fs.writeFileSync(file, JSON.stringify(old))
  start()
  await until(() => expect(stand.accepted.length).toBeGreaterThan(1))
  expect(stand.accepted[0]).toMatchObject({ boot_epoch: 5, sequence_number: 7, measured_at: at.toISOString() })
  const { hardware_fingerprint } = measured
  for (const beat of stand.accepted) expect(beat).toMatchObject({ node_id: 'node-1', cluster_id: 'c', hardware_fingerprint })
  expect(stand.wrong).toEqual([])
  await until(() => expect(fs.existsSync(file)).toBe(false))
})

test('a beat that is wrong in itself does not hold up the others', async () => {
  const { stand, start } = await given(({ sequence_number }) =>
    sequence_number === 2 ? { status: 400, ...refuse('invalid_request') } : undefined,
  )
  const { agent } = start()
  await until(() => expect(stand.accepted.length).toBeGreaterThan(2))
  expect(stand.accepted.map(({ sequence_number }) => sequence_number).slice(0, 3)).toEqual([1, 3, 4])
  expect(agent.status().failed_heartbeats).toBe(1)
})

test('waits as long as it is told to', async () => {
  const asked: number[] = []
  const { stand, start } = await given(() => {
    asked.push(performance.now())
    return asked.length === 1 ? { status: 429, headers: { 'retry-after': '2' }, body: {} } : undefined
  })
  const { agent } = start()
  await until(() => expect(agent.status().last_error?.code).toBe('http_429'))
  await until(() => expect(stand.accepted.length).toBeGreaterThan(0))
  // Whatever else the machine does can only make it longer.
  expect(asked[1]! - asked[0]!).toBeGreaterThan(1990)
  expect(stand.accepted[0]!.sequence_number).toBe(1)
})

test('what is measured while it waits for the next try is on the disk, should the agent be killed', async () => {
  const { start, stateDir } = await given(() => ({ status: 429, headers: { 'retry-after': '3600' }, body: {} }))
  start()
  await until(() => expect(spooled(stateDir).length).toBeGreaterThan(3))
})

test('beats as often as it is told to', async () => {
  const { stand, start } = await given((beat) => {
    stand.accepted.push(beat)
    return { body: { accepted: true, next_heartbeat_seconds: 3600 } }
  })
  const { agent } = start()
  await until(() => expect(agent.status().interval_seconds).toBe(3600))
})

test('does not wait out a long interval when it is told of a shorter one', async () => {
  const { stand, start } = await given((beat) => {
    stand.accepted.push(beat)
    return { body: { accepted: true, next_heartbeat_seconds: 0.05 } }
  })
  start(3_600_000)
  await until(() => expect(stand.accepted.length).toBeGreaterThan(2))
})

test('registers again with an API that has forgotten it', async () => {
  let isForgotten = false
  const { stand, start } = await given(() => {
    if (!isForgotten) return
    isForgotten = false
    return refuse('node_not_registered')
  })
  start()
  await until(() => expect(stand.accepted.length).toBeGreaterThan(1))
  isForgotten = true
  await until(() => expect(stand.registrations.length).toBe(2))
})

test('where nothing can be written it says so in its beats, and beats on', async () => {
  const stateDir = path.join(folder(), 'file')
  fs.writeFileSync(stateDir, '')
  const { stand, start, seen } = await given(undefined, stateDir)
  const { agent } = start(1000)
  await until(() => expect(stand.accepted.length).toBeGreaterThan(1))
  expect(agent.status().problems.join()).toMatch(/the sequence cannot be kept/)
  expect(seen.at(-1)?.join()).toMatch(/the sequence cannot be kept/)
  await stand.down()
  await until(() => expect(agent.status().problems).toHaveLength(2))
  await stand.up()
  await until(() => expect(agent.status().waiting_heartbeats).toBeLessThan(3))
  expect(stand.accepted.map(({ sequence_number }) => sequence_number)).toEqual(stand.accepted.map((_, i) => i + 1))
})
