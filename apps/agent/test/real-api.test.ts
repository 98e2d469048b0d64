import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { createEnrollmentToken, updateAgentSettings } from '@muster/core/agents'
import { newIdentity } from '@muster/protocol/agent'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpServer, serveHttp } from '../../api/src/http/server.ts'
import { testApi } from '../../api/src/testing/api.ts'
import { Agent } from '../src/agent.ts'
import { createApiClient } from '../src/api-client.ts'
import type { Measurements } from '../src/collect/index.ts'
import { readConfig } from '../src/config.ts'
import { createLogger } from '../src/log.ts'
import { register } from '../src/register.ts'
import { createHostRoot, createTempDir } from './temp-files.ts'

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

test('enrolls with a token and delivers all heartbeats in order after an outage', async () => {
  const fixture = await t.given.tenant()
  const { token } = await createEnrollmentToken(fixture.operator, {})
  const identity = newIdentity()
  const names = { nodeId: 'gpu-0001', clusterId: 'lab' }
  const { config } = readConfig(['--config', '/dev/null', '--hostname', 'gpu-0001', '--region', 'eu'])
  const stop = new AbortController()
  const stateDir = createTempDir()
  const client = createApiClient(`http://127.0.0.1:${server.port}`, undefined, '1', stop.signal)
  let isOffline = false
  const responses: Record<string, unknown>[] = []
  const api: typeof client = async (...request) => {
    if (isOffline) return { failure: 'the network is down' }
    const result = await client(...request)
    if ('body' in result) responses.push(result.body)
    // The API requests an interval of 30 s; the test uses a shorter one.
    return 'body' in result ? { ...result, body: { ...result.body, next_heartbeat_seconds: 1 } } : result
  }
  const measurements: Measurements = {
    capacity: { cpu_cores_total: 8 },
    health: { status: 'healthy' },
    hardware_fingerprint: 'f'.repeat(64),
  }
  const agent = new Agent({
    ...names,
    stateDir,
    interval: 200,
    initialDelay: 0,
    version: '1.2.3',
    identity,
    api,
    log: { ...createLogger('error'), warn: () => {} },
    collect: async () => measurements,
    register: (measured) => register(api, config, names, identity, measured, '1.2.3', token),
  })
  const ended = agent.run(stop.signal)
  const row = () =>
    t.runtime.db.query.agents.findFirst({
      where: { agentId: 'gpu-0001', tenantId: fixture.tenant.id },
      with: { heartbeat: true },
    })
  try {
    await expect.poll(async () => (await row())?.heartbeat?.accepted).toBeGreaterThan(1)
    expect(await row()).toMatchObject({ state: 'ACTIVE', version: '1.2.3', cluster: 'lab', fingerprint: 'f'.repeat(64) })
    isOffline = true
    await expect.poll(() => agent.status()).toMatchObject({ last_error: { code: 'connection_failed' } })
    await expect.poll(() => fs.readdirSync(path.join(stateDir, 'spool')).length).toBeGreaterThan(2)
    isOffline = false
    await expect.poll(() => agent.status().waiting_heartbeats).toBe(0)
    stop.abort()
    await ended
    const { boot_epoch, sequence_number, waiting_heartbeats } = agent.status()
    const heartbeat = (await row())!.heartbeat!
    // The last heartbeat may have been in flight.
    expect([sequence_number, sequence_number - waiting_heartbeats]).toContain(heartbeat.sequence)
    expect(heartbeat.bootEpoch).toBe(boot_epoch)
    // Each heartbeat arrived exactly once and in order.
    expect(responses.filter(({ accepted }) => accepted !== true)).toEqual([])
    expect(heartbeat.accepted).toBe(heartbeat.sequence)
  } finally {
    stop.abort()
    await ended
  }
})

test('the program enrolls with a token from stdin, applies the interval of the tenant, resumes after a kill, and its clone is detected', async () => {
  const fixture = await t.given.tenant()
  await updateAgentSettings(fixture.admin, { heartbeatIntervalSeconds: 1 })
  const { token } = await createEnrollmentToken(fixture.operator, {})
  const homeDir = createTempDir()
  const program = path.join(import.meta.dirname, '../src/main.ts')
  const names = {
    'node-id': 'gpu-0002',
    'cluster-id': 'lab',
    'heartbeat-interval': '10m',
    'api-url': `http://127.0.0.1:${server.port}`,
    'host-root': createHostRoot(),
  }
  const files = { 'key-file': 'agent.key', 'state-dir': 'state', 'status-socket': 'agent.sock' }
  const settings = [
    ...Object.entries({ config: '/dev/null', ...names }),
    ...Object.entries(files).map(([name, file]) => [name, path.join(homeDir, file)] as const),
  ].flatMap(([name, value]) => [`--${name}`, value])
  const argv = (command: string, ...more: string[]) => [program, command, ...settings, ...more]
  const agent = () =>
    t.runtime.db.query.agents.findFirst({
      where: { agentId: 'gpu-0002', tenantId: fixture.tenant.id },
      with: { heartbeat: true },
    })
  expect(spawnSync(process.execPath, argv('init')).status).toBe(0)
  const registering = spawn(process.execPath, argv('register', '--token-file', '-'), { stdio: ['pipe', 'ignore', 'ignore'] })
  registering.stdin.end(token)
  expect(await new Promise((resolve) => registering.once('exit', resolve))).toBe(0)

  const startAgent = (command = argv('start')) => {
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
    const end = startAgent()
    try {
      // Persisted heartbeats of the killed agent come first.
      await expect.poll(async () => (await agent())!.heartbeat!.bootEpoch).toBeGreaterThan(epoch)
      await expect.poll(async () => (await agent())!.heartbeat!.sequence).toBeGreaterThan(1)
      // The interval of the tenant overrides the agent's own ten minutes.
      const { stdout } = spawnSync(process.execPath, argv('status', '--json'), { encoding: 'utf8' })
      expect(JSON.parse(stdout)).toMatchObject({
        interval_seconds: 1,
        last_error: null,
        metrics: { capacity: { cpu_cores_total: expect.any(Number) }, health: { uptime_seconds: expect.any(Number) } },
      })
      const text = spawnSync(process.execPath, argv('status'), { encoding: 'utf8' }).stdout
      expect(text).toMatch(/^cpu_cores_total +\d+$/m)
      expect(text).toMatch(/^memory_utilization_percent +[\d.]+$/m)
      // 0 without slurmd; unknown where one runs, which parallel tests do.
      expect(text).toMatch(/^running_count +[-0]$/m)
    } finally {
      expect(await end(signal)).toBe(signal === 'SIGTERM' ? 0 : null)
    }
    epoch = (await agent())!.heartbeat!.bootEpoch!
  }
  expect(await agent()).toMatchObject({ state: 'ACTIVE', cluster: 'lab', heartbeat: { missed: 0 } })

  // The disk is cloned, and both machines start.
  const clone = createTempDir()
  fs.cpSync(homeDir, clone, { recursive: true, filter: (file) => !file.endsWith('.sock') })
  const kinds = async () => {
    const rows = await t.runtime.db.query.alerts.findMany({ where: { tenantId: fixture.tenant.id } })
    return rows.map(({ kind }) => kind)
  }
  expect(await kinds()).not.toContain('key_shared')
  const ends = [startAgent()]
  try {
    // After its first accepted heartbeat it knows the interval.
    await expect.poll(async () => (await agent())!.heartbeat!.bootEpoch).toBeGreaterThan(epoch)
    ends.push(startAgent(argv('start').map((word) => word.replace(homeDir, clone))))
    await expect.poll(kinds).toContain('key_shared')
  } finally {
    for (const end of ends) await end('SIGTERM')
  }
}, 240_000)
