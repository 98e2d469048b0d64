import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { createEnrolmentToken, updateAgentSettings } from '@muster/core/agents'
import { newIdentity } from '@muster/protocol/light'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type HttpServer, serveHttp } from '../../api/src/http.ts'
import { testApi } from '../../api/src/testing/api.ts'
import { Agent } from '../src/agent.ts'
import { api } from '../src/api.ts'
import type { Measured } from '../src/collect/index.ts'
import { readConfig } from '../src/config.ts'
import { logger } from '../src/log.ts'
import { register } from '../src/register.ts'
import { folder } from './tree.ts'

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server.stop()
  await t.close()
})
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 120_000, interval: 50 })

test('against the real API: a token lets it in, beats count, and what a cut kept back arrives in order', async () => {
  const cast = await t.given.tenant()
  const { token } = await createEnrolmentToken(cast.operator, {})
  const identity = newIdentity()
  const names = { nodeId: 'gpu-0001', clusterId: 'lab' }
  const { config } = readConfig(['--config', '/dev/null', '--hostname', 'gpu-0001', '--region', 'eu'])
  const stop = new AbortController()
  const stateDir = folder()
  const real = api(`http://127.0.0.1:${server.port}`, undefined, '1', stop.signal)
  // The cable, and what went through it.
  let isCut = false
  const answers: Record<string, unknown>[] = []
  const send: typeof real = async (...request) => {
    if (isCut) return { failure: 'the network is cut' }
    const reply = await real(...request)
    if ('body' in reply) answers.push(reply.body)
    // The API asks for a beat every 30 s; here they come faster.
    return 'body' in reply ? { ...reply, body: { ...reply.body, next_heartbeat_seconds: 1 } } : reply
  }
  const measured: Measured = {
    capacity: { cpu_cores_total: 8 },
    health: { status: 'healthy' },
    hardware_fingerprint: 'f'.repeat(64),
  }
  const agent = new Agent({
    ...names,
    stateDir,
    interval: 200,
    settle: 0,
    version: '1.2.3',
    identity,
    api: send,
    log: { ...logger('error'), warn: () => {} },
    collect: async () => measured,
    register: (what) => register(send, config, names, identity, what, '1.2.3', token),
  })
  const ended = agent.run(stop.signal)
  const row = () =>
    t.runtime.db.query.agents.findFirst({ where: { agentId: 'gpu-0001', tenantId: cast.tenant.id }, with: { beat: true } })
  try {
    await until(async () => expect((await row())?.beat?.accepted).toBeGreaterThan(1))
    expect(await row()).toMatchObject({ state: 'ACTIVE', version: '1.2.3', cluster: 'lab', fingerprint: 'f'.repeat(64) })
    isCut = true
    await until(() => expect(agent.status()).toMatchObject({ last_error: { code: 'connection_failed' } }))
    await until(() => expect(fs.readdirSync(path.join(stateDir, 'spool')).length).toBeGreaterThan(2))
    isCut = false
    await until(() => expect(agent.status().waiting_heartbeats).toBe(0))
    stop.abort()
    await ended
    const { boot_epoch, sequence_number, waiting_heartbeats } = agent.status()
    const beat = (await row())!.beat!
    // The last may have been on its way.
    expect([sequence_number, sequence_number - waiting_heartbeats]).toContain(beat.sequence)
    expect(beat.bootEpoch).toBe(boot_epoch)
    // Every one arrived, once: none was refused for standing behind another.
    expect(answers.filter(({ accepted }) => accepted !== true)).toEqual([])
    expect(beat.accepted).toBe(beat.sequence)
  } finally {
    stop.abort()
    await ended
  }
})

test('the program itself: enrols with a token from its input, beats as the tenant wants, goes on when it was killed, and is told from its clone', async () => {
  const cast = await t.given.tenant()
  await updateAgentSettings(cast.admin, { heartbeatS: 1 })
  const { token } = await createEnrolmentToken(cast.operator, {})
  const home = folder()
  const program = path.join(import.meta.dirname, '../src/main.ts')
  const names = {
    'node-id': 'gpu-0002',
    'cluster-id': 'lab',
    'heartbeat-interval': '10m',
    'api-url': `http://127.0.0.1:${server.port}`,
  }
  const files = { 'key-file': 'agent.key', 'state-dir': 'state', 'status-socket': 'agent.sock' }
  const settings = [
    ...Object.entries({ config: '/dev/null', ...names }),
    ...Object.entries(files).map(([name, file]) => [name, path.join(home, file)] as const),
  ].flatMap(([name, value]) => [`--${name}`, value])
  const argv = (command: string, ...more: string[]) => [program, command, ...settings, ...more]
  const agent = () =>
    t.runtime.db.query.agents.findFirst({ where: { agentId: 'gpu-0002', tenantId: cast.tenant.id }, with: { beat: true } })
  expect(spawnSync(process.execPath, argv('init')).status).toBe(0)
  const registering = spawn(process.execPath, argv('register', '--token-file', '-'), { stdio: ['pipe', 'ignore', 'ignore'] })
  registering.stdin.end(token)
  expect(await new Promise((resolve) => registering.once('exit', resolve))).toBe(0)

  const beats = (command = argv('start')) => {
    const child = spawn(process.execPath, command, { stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const end = (signal: NodeJS.Signals) => {
      child.kill(signal)
      return ended
    }
    return end
  }
  let epoch = 0
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const end = beats()
    try {
      // What the killed one had kept comes first.
      await until(async () => expect((await agent())!.beat!.bootEpoch).toBeGreaterThan(epoch))
      await until(async () => expect((await agent())!.beat!.sequence).toBeGreaterThan(1))
      // By its own settings ten minutes, by those of others half a one.
      const { stdout } = spawnSync(process.execPath, argv('status', '--json'), { encoding: 'utf8' })
      expect(JSON.parse(stdout)).toMatchObject({ interval_seconds: 1, last_error: null })
    } finally {
      expect(await end(signal)).toBe(signal === 'SIGTERM' ? 0 : null)
    }
    epoch = (await agent())!.beat!.bootEpoch!
  }
  expect(await agent()).toMatchObject({ state: 'ACTIVE', cluster: 'lab', beat: { missed: 0 } })

  // Its disk is cloned, and both machines are started.
  const clone = folder()
  fs.cpSync(home, clone, { recursive: true, filter: (file) => !file.endsWith('.sock') })
  const kinds = async () => {
    const rows = await t.runtime.db.query.alerts.findMany({ where: { tenantId: cast.tenant.id } })
    return rows.map(({ kind }) => kind)
  }
  expect(await kinds()).not.toContain('key_shared')
  const ends = [beats()]
  try {
    // Once it was heard it knows how often it is to beat.
    await until(async () => expect((await agent())!.beat!.bootEpoch).toBeGreaterThan(epoch))
    ends.push(beats(argv('start').map((word) => word.replace(home, clone))))
    await until(async () => expect(await kinds()).toContain('key_shared'))
  } finally {
    for (const end of ends) await end('SIGTERM')
  }
}, 240_000)
