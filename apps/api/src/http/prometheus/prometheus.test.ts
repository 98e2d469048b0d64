import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { createAlertRoute, raiseAlerts } from '@muster/core/alerts'
import { addSlurmCluster } from '@muster/core/clusters'
import { createNodeGroup } from '@muster/core/groups'
import { schema } from '@muster/core/registry'
import { jobRunQueue } from '@muster/core/runs'
import { recordRefresh, slurmJob, slurmNode, slurmPartition, type TenantFixture } from '@muster/core/testing'
import { registerWorker } from '@muster/core/workers'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { serveMetrics } from '../metrics-server.ts'
import { type HttpServer, serveHttp } from '../server.ts'
import { CLUSTER_METRICS } from './cluster-metrics.ts'
import { NODE_METRICS } from './node-metrics.ts'

const RULES = path.resolve(import.meta.dirname, '../../../../../docs/prometheus')
const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const { agentHeartbeats, agents, alertRoutes, computeNodes, workers } = schema

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let metricsServer: HttpServer
let fixture: TenantFixture
let token: string
beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  metricsServer = await serveMetrics(
    { ...t.api.metrics, read: () => t.api.metrics.registry.metrics() },
    { host: '127.0.0.1', port: 0 },
  )
  fixture = await t.given.tenant()
  token = await t.tokenOf(fixture.viewer)
  const nodes = await t.given.fleet(fixture.operator, {
    nodes: 4,
    accelerators: 2,
    with: (i) =>
      [
        { tags: ['prod', 'hot'], labels: { rack: 'a1', 'note.x': 'a "quoted"\n\\ note' }, region: 'eu', datacenter: 'dc "1"\\' },
        { host: 'fd00::7' },
        { connectionType: 'local' as const },
        { decommissionedAt: new Date() },
      ][i]!,
  })
  await createNodeGroup(fixture.operator, { name: 'front', memberQuery: 'tag = prod' })
  const at = new Date('2026-05-01T10:00:00.500Z')
  const agent = {
    nodeId: nodes[0]!.id,
    tenantId: fixture.tenant.id,
    agentId: 'gpu001',
    cluster: 'blue',
    state: 'OFFLINE' as const,
  }
  await t.runtime.db.insert(agents).values({ ...agent, version: '1.2' })
  const beat = { receivedAt: at, skewMs: -1500, accepted: 41, missed: 1, cpuPercent: 25, gpusTotal: 8 }
  await t.runtime.db.insert(agentHeartbeats).values({ nodeId: nodes[0]!.id, ...beat })
  await t.given.fleet((await t.given.tenant()).operator, { nodes: 1, prefix: 'foreign' })
})
afterAll(async () => {
  await metricsServer?.stop()
  await server?.stop()
  await t?.close()
})

const get = (where: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${server.port}${where}`, { headers: { authorization: `Bearer ${token}` }, ...init })

/** Runs promtool (Debian package prometheus). */
async function promtool(args: string[], stdin = ''): Promise<{ code: number | null; output: string }> {
  const child = spawn('promtool', args, { cwd: RULES })
  child.stdin.end(stdin)
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  const [out, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, output: out + errors }
}

test('the alerting rules are valid and pass their tests', async () => {
  expect(await promtool(['check', 'rules', 'muster-rules.yml'])).toMatchObject({ code: 0 })
  expect(await promtool(['test', 'rules', 'muster-rules.test.yml'])).toMatchObject({ code: 0 })
})

test('the alerting rules use existing metrics only', async () => {
  const rules = readFileSync(path.join(RULES, 'muster-rules.yml'), 'utf8')
  expect(await unknownMetrics(rules.match(/\b((muster|slurm)_\w+|up(?=\{))/g)!)).toEqual([])
})

test('the queries of the dashboard are valid and use existing metrics only', async () => {
  const dashboard = JSON.parse(readFileSync(path.join(RULES, 'slurm-dashboard.json'), 'utf8'))
  const queries: string[] = dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.map(({ expr }) => expr),
  )
  expect(await unknownMetrics(queries.join('\n').match(/\b(muster|slurm)_\w+/g)!)).toEqual([])
  const rules = queries.map((expr, i) => ({ record: `dashboard:query:${i}`, expr }))
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-dashboard-'))
  writeFileSync(path.join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  expect(await promtool(['check', 'rules', path.join(folder, 'rules.json')])).toMatchObject({ code: 0 })
  rmSync(folder, { recursive: true })
})

/** Names of metrics that Muster does not have. */
async function unknownMetrics(names: string[]): Promise<string[]> {
  const ours = [...(await t.api.metrics.registry.getMetricsAsArray()), ...NODE_METRICS, ...CLUSTER_METRICS]
  // Prometheus adds the first to each target; workers have the others.
  const scale = ['attempts', 'success', 'failed'].map((result) => `slurm_node_scale_${result}_total`)
  const existing = new Set([...ours.map(({ name }) => name), 'up', 'slurm_ssh_connection_duration_seconds', ...scale])
  return names.map((name) => name.replace(/_bucket$/, '')).filter((name) => !existing.has(name))
}

test('/metrics has agents by state, open alerts, failing routes, workers and queues', async () => {
  const route = { name: 'r', kind: 'webhook' as const, url: 'https://hooks.test/', secret: 'a route secret' }
  const { id } = await createAlertRoute(fixture.admin, route)
  await t.runtime.db.update(alertRoutes).set({ failingSince: sql`now()` }).where(eq(alertRoutes.id, id))
  const alert = { tenantId: fixture.tenant.id, nodeId: null, kind: 'mass_outage' as const, evidence: {} }
  await t.runtime.db.transaction((tx) => raiseAlerts(tx, [alert]))
  const worker = { host: 'h', pid: 1, version: '0.1.0', ansibleVersion: '2.19.0', concurrency: 4 }
  await registerWorker(t.runtime, { name: 'here', ...worker })
  await registerWorker(t.runtime, { name: 'gone', ...worker })
  await t.runtime.db.update(workers).set({ lastSeenAt: sql`now() - interval '1 minute'` }).where(eq(workers.name, 'gone'))
  await t.runtime.db.transaction((tx) =>
    t.runtime.queue.send(tx, jobRunQueue, [{ id: fixture.tenant.id, tenantId: fixture.tenant.id }]),
  )
  const lines = [
    'muster_agents{state="OFFLINE"} 1',
    'muster_agents{state="ACTIVE"} 0',
    'muster_alerts_open{severity="critical"} 1',
    'muster_alerts_open{severity="info"} 0',
    'muster_alert_routes_failing 1',
    'muster_heartbeats_accepted_total 0',
    'muster_workers{state="active"} 1',
    'muster_workers{state="lost"} 1',
    'muster_queue_depth{queue="job-run"} 1',
    'muster_queue_depth{queue="discovery"} 0',
    'muster_queue_oldest_seconds{queue="discovery"} 0',
  ]
  // Metrics of a slow database are omitted from a scrape.
  const output = await vi.waitFor(async () => {
    const page = await (await fetch(`http://127.0.0.1:${metricsServer.port}/metrics`)).text()
    for (const line of lines) expect(page).toContain(`${line}\n`)
    return page
  }, 50_000)
  expect(await promtool(['check', 'metrics'], output)).toEqual({ code: 0, output: '' })
  // Its users see counts of other tenants.
  expect((await get('/metrics')).status).toBe(404)
  expect((await fetch(`http://127.0.0.1:${metricsServer.port}/graphql`)).status).toBe(404)
  const guarded = await serveMetrics(t.api.metrics, { host: '127.0.0.1', port: 0, token: 'a-token-of-the-monitoring' })
  const statusWith = async (authorization?: string) =>
    (await fetch(`http://127.0.0.1:${guarded.port}/metrics`, { headers: authorization ? { authorization } : {} })).status
  expect(await statusWith()).toBe(401)
  expect(await statusWith(`Bearer ${token}`)).toBe(401)
  expect(await statusWith('Bearer a-token-of-the-monitoring')).toBe(200)
  await guarded.stop()
})

test('/metrics/nodes has the nodes that are visible to the caller', async () => {
  const page = await get('/metrics/nodes')
  expect(page.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const output = await page.text()
  expect(output.split('\n').filter((line) => line.includes('gpu001'))).toEqual([
    'muster_node_info{node="gpu001",cluster="blue",region="eu",datacenter="dc \\"1\\"\\\\",status="READY",type="COMPUTE",agent_version="1.2"} 1',
    'muster_agent_state{node="gpu001",cluster="blue",state="OFFLINE"} 1',
    'muster_agent_last_heartbeat_timestamp_seconds{node="gpu001",cluster="blue"} 1777629600.5',
    'muster_agent_clock_skew_seconds{node="gpu001",cluster="blue"} -1.5',
    'muster_agent_heartbeats_total{node="gpu001",cluster="blue"} 41',
    'muster_agent_heartbeats_missed_total{node="gpu001",cluster="blue"} 1',
    'muster_node_cpu_utilization_ratio{node="gpu001",cluster="blue"} 0.25',
    'muster_node_gpus{node="gpu001",cluster="blue"} 8',
    'muster_node_accelerators{node="gpu001",cluster="blue",type="nvidia_gpu",health="ok"} 2',
  ])
  expect(output).not.toMatch(/foreign|gpu004/)
  expect(await promtool(['check', 'metrics'], output)).toEqual({ code: 0, output: '' })
  const some = await (await get(`/metrics/nodes?limit=${encodeURIComponent('{tag = prod}')}`)).text()
  expect(new Set(some.match(/node="\w+"/g))).toEqual(new Set(['node="gpu001"']))
})

test('/metrics/nodes is complete with many nodes', async () => {
  const many = await t.given.tenant()
  await t.given.fleet(many.operator, { nodes: 1100, prefix: 'n' })
  const output = await (
    await get('/metrics/nodes', { headers: { authorization: `Bearer ${await t.tokenOf(many.viewer)}` } })
  ).text()
  expect(output.match(/^muster_node_info\{/gm)).toHaveLength(1100)
})

test('/metrics/clusters has the clusters of the tenant; those that do not answer have no nodes and jobs', async () => {
  const owner = await t.given.tenant()
  const nodes = await t.given.fleet(owner.operator, { nodes: 2, prefix: 'ctl', with: { hostKey: HOST_KEY } })
  const add = (name: string, node: { id: string }) => addSlurmCluster(owner.admin, { name, controllerNodeId: node.id })
  const blue = await add('blue', nodes[0]!)
  const red = await add('red "2"', nodes[1]!)
  const pending = { states: ['PENDING'], nodes: '', reason: 'Resources' }
  const cycles = { lastCycle: 1000, meanCycle: 2000, maxCycle: 3000, cyclesPerMinute: 1, queueLength: 0 }
  const state = {
    clusterName: 'lab',
    version: '22.05.8',
    controllers: [],
    settings: {},
    reservations: [],
    nodes: [
      slurmNode('n1', { partitions: ['debug', 'gpu'] }),
      slurmNode('n2', { partitions: ['debug'], states: ['DOWN', 'NOT_RESPONDING'], allocatedCpus: 0, gresUsed: [] }),
      slurmNode('n3', { partitions: ['gpu'], states: ['IDLE', 'NOT_RESPONDING'], allocatedCpus: 0, gresUsed: [] }),
    ],
    partitions: [slurmPartition('debug')],
    jobs: [
      slurmJob(1),
      slurmJob(2, { ...pending, submittedAt: new Date(Date.now() - 60_000) }),
      slurmJob(3, { ...pending, reason: 'Dependency', submittedAt: new Date(Date.now() - 9_000_000) }),
    ],
    scheduler: { main: cycles, backfill: cycles } as never,
  }
  for (const { id } of [blue, red])
    await recordRefresh(owner.worker, {
      id,
      queries: [],
      durationMs: 1500,
      state: { ...state, clusterName: id === red.id ? 'lab 2' : 'lab' },
      error: null,
    })
  await recordRefresh(owner.worker, { id: red.id, queries: [], durationMs: 10, state: null, error: 'No answer.' })
  const read = async (as: string) => (await get('/metrics/clusters', { headers: { authorization: `Bearer ${as}` } })).text()
  const output = await read(await t.tokenOf(owner.viewer))
  const samples = output.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const value = (name: string) =>
    Number(
      samples
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1),
    )
  const age = value('muster_slurm_refresh_age_seconds{cluster="blue"}')
  expect(age).toBeGreaterThanOrEqual(0)
  for (const which of ['median', 'max'])
    expect(value(`muster_slurm_queue_wait_seconds{cluster="blue",partition="debug",value="${which}"}`)).toBeCloseTo(60 + age, -2)
  expect(samples.filter((line) => !/age_seconds|queue_wait/.test(line))).toEqual([
    'slurm_external_cluster_total 2',
    'slurm_external_cluster_health{cluster="blue",status="healthy"} 1',
    'slurm_external_cluster_health{cluster="blue",status="unhealthy"} 0',
    'slurm_external_cluster_health{cluster="red \\"2\\"",status="healthy"} 0',
    'slurm_external_cluster_health{cluster="red \\"2\\"",status="unhealthy"} 1',
    'muster_slurm_cluster_info{cluster="blue",slurm_cluster="lab",version="22.05.8"} 1',
    'muster_slurm_cluster_info{cluster="red \\"2\\"",slurm_cluster="lab 2",version="22.05.8"} 1',
    'muster_slurm_refresh_duration_seconds{cluster="blue"} 1.5',
    'muster_slurm_refresh_duration_seconds{cluster="red \\"2\\""} 0.01',
    'muster_slurm_nodes{cluster="blue",partition="debug",state="DOWN*"} 1',
    'muster_slurm_nodes{cluster="blue",partition="debug",state="MIXED"} 1',
    'muster_slurm_nodes{cluster="blue",partition="gpu",state="IDLE*"} 1',
    'muster_slurm_nodes{cluster="blue",partition="gpu",state="MIXED"} 1',
    'muster_slurm_cpus{cluster="blue",partition="debug",state="DOWN*"} 8',
    'muster_slurm_cpus{cluster="blue",partition="debug",state="MIXED"} 8',
    'muster_slurm_cpus{cluster="blue",partition="gpu",state="IDLE*"} 8',
    'muster_slurm_cpus{cluster="blue",partition="gpu",state="MIXED"} 8',
    'muster_slurm_cpus_allocated{cluster="blue",partition="debug",state="DOWN*"} 0',
    'muster_slurm_cpus_allocated{cluster="blue",partition="debug",state="MIXED"} 2',
    'muster_slurm_cpus_allocated{cluster="blue",partition="gpu",state="IDLE*"} 0',
    'muster_slurm_cpus_allocated{cluster="blue",partition="gpu",state="MIXED"} 2',
    'muster_slurm_gpus{cluster="blue",partition="debug",state="DOWN*"} 4',
    'muster_slurm_gpus{cluster="blue",partition="debug",state="MIXED"} 4',
    'muster_slurm_gpus{cluster="blue",partition="gpu",state="IDLE*"} 4',
    'muster_slurm_gpus{cluster="blue",partition="gpu",state="MIXED"} 4',
    'muster_slurm_gpus_allocated{cluster="blue",partition="debug",state="DOWN*"} 0',
    'muster_slurm_gpus_allocated{cluster="blue",partition="debug",state="MIXED"} 1',
    'muster_slurm_gpus_allocated{cluster="blue",partition="gpu",state="IDLE*"} 0',
    'muster_slurm_gpus_allocated{cluster="blue",partition="gpu",state="MIXED"} 1',
    'muster_slurm_idle_gpus{cluster="blue",model="h100"} 3',
    'muster_slurm_jobs{cluster="blue",partition="debug",state="PENDING",reason="Dependency"} 1',
    'muster_slurm_jobs{cluster="blue",partition="debug",state="PENDING",reason="Resources"} 1',
    'muster_slurm_jobs{cluster="blue",partition="debug",state="RUNNING"} 1',
    ...['main', 'backfill'].flatMap((kind) =>
      [
        ['last', 0.001],
        ['mean', 0.002],
        ['max', 0.003],
      ].map(
        ([which, seconds]) =>
          `muster_slurm_scheduler_cycle_seconds{cluster="blue",scheduler="${kind}",value="${which}"} ${seconds}`,
      ),
    ),
  ])
  expect(await promtool(['check', 'metrics'], output)).toEqual({ code: 0, output: '' })
  expect(await read(token)).toContain('slurm_external_cluster_total 0\n')
  expect(await read(token)).not.toContain('blue')
  expect((await get('/metrics/clusters', { headers: {} })).status).toBe(401)
})

test('/sd/targets returns nodes as targets with labels', async () => {
  const listed = (await (await get('/sd/targets')).json()) as { targets: string[]; labels: Record<string, string> }[]
  const [{ id }] = (await t.runtime.db
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(eq(computeNodes.region, 'eu'))) as [{ id: string }]
  expect(listed.map(({ targets }) => targets)).toEqual([['10.0.0.0:9100'], ['[fd00::7]:9100']])
  expect(listed[0]!.labels).toEqual({
    node: 'gpu001',
    cluster: 'blue',
    region: 'eu',
    datacenter: 'dc "1"\\',
    __meta_muster_agent_state: 'OFFLINE',
    __meta_muster_id: id,
    __meta_muster_status: 'READY',
    __meta_muster_type: 'COMPUTE',
    __meta_muster_tags: ',prod,hot,',
    __meta_muster_groups: ',front,',
    __meta_muster_label_rack: 'a1',
    __meta_muster_label_note_x: 'a "quoted"\n\\ note',
  })
  const some = await (await get('/sd/targets?limit=gpu001&port=9100&port=9400')).json()
  expect(some).toMatchObject([{ targets: ['10.0.0.0:9100', '10.0.0.0:9400'] }])
})

test.each(['/sd/targets', '/metrics/nodes'])('%s requires a token and reports invalid parameters', async (where) => {
  expect((await get(where, { headers: {} })).status).toBe(401)
  const wrong = await get(`${where}?limit=foreign001`)
  expect([wrong.status, await wrong.json()]).toEqual([400, { error: 'limit: there is no node foreign001' }])
  expect((await get(where, { method: 'POST' })).status).toBe(405)
  expect(await (await get(where, { method: 'HEAD' })).text()).toBe('')
})

test('rejects an invalid port', async () => {
  const wrong = await get('/sd/targets?port=99999')
  expect([wrong.status, await wrong.json()]).toEqual([400, { error: expect.stringMatching(/^port: /) }])
})

/** A TCP port that is free now. */
const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

test('Prometheus scrapes, discovers and loads the rules with the documented configuration', async () => {
  const guide = readFileSync(path.join(RULES, '../integrate.md'), 'utf8')
  const documented = /```yaml\n(# prometheus\.yml\n.*?)```/s.exec(guide)![1]!
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-prometheus-'))
  const config = path.join(folder, 'prometheus.yml')
  writeFileSync(path.join(folder, 'token'), token)
  const adapted = documented
    .replaceAll('scheme: https', 'scheme: http')
    .replaceAll('https://muster.example.org/', `http://127.0.0.1:${server.port}/`)
    .replaceAll('"muster.example.org"', `"127.0.0.1:${server.port}"`)
    .replace('"10.0.0.5:9464"', `"127.0.0.1:${metricsServer.port}"`)
    .replaceAll('/etc/prometheus/muster-token', path.join(folder, 'token'))
    .replace('[muster-rules.yml]', `[${path.join(RULES, 'muster-rules.yml')}]`)
  expect(adapted).not.toContain('example.org')
  writeFileSync(config, `global: { scrape_interval: 1s, scrape_timeout: 1s }\n${adapted}`)
  expect(await promtool(['check', 'config', config])).toMatchObject({ code: 0 })

  const address = `127.0.0.1:${await freePort()}`
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${path.join(folder, 'data')}`, `--web.listen-address=${address}`]
  const prometheus = spawn('prometheus', args, { stdio: 'ignore' })
  const ended = new Promise((resolve) => prometheus.once('close', resolve))
  try {
    type Target = { labels: Record<string, string>; scrapeUrl: string; health: string; lastError: string }
    const data = async <T>(what: string) => ((await (await fetch(`http://${address}/api/v1/${what}`)).json()) as { data: T }).data
    await vi.waitFor(async () => {
      const { activeTargets } = await data<{ activeTargets: Target[] }>('targets')
      const healthOf = (job: string) => activeTargets.filter(({ labels }) => labels.job === job).map(({ health }) => health)
      expect([healthOf('muster'), healthOf('muster-nodes')]).toEqual([['up'], ['up']])
      const nodes = activeTargets.filter(({ labels }) => labels.job === 'node')
      expect(nodes.map(({ scrapeUrl }) => scrapeUrl).sort()).toEqual([
        'http://10.0.0.0:9100/metrics',
        'http://[fd00::7]:9100/metrics',
      ])
      expect(nodes.map(({ labels }) => labels.node).sort()).toEqual(['gpu001', 'gpu002'])
    }, 30_000)
    const { groups } = await data<{ groups: { rules: { health: string }[] }[] }>('rules')
    expect(groups.flatMap(({ rules }) => rules).length).toBeGreaterThan(10)
    const { result } = await data<{ result: { metric: Record<string, string> }[] }>(
      `query?query=${encodeURIComponent('muster_agent_state')}`,
    )
    expect(result).toMatchObject([{ metric: { node: 'gpu001', cluster: 'blue', state: 'OFFLINE' } }])
  } finally {
    prometheus.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
})
