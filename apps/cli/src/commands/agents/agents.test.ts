import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'
import { frame, type TopRow } from '../heartbeats/top.ts'

const KEY = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
const OTHER = '/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU='
const fingerprintOf = (key: string) =>
  `SHA256:${createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64').replace(/=+$/, '')}`

let t: TestApi
let operator: Parameters<TestApi['signIn']>[0]
let admin: typeof operator
beforeAll(async () => {
  t = await startTestApi()
  ;({ operator, admin } = await t.given.tenant())
  const { tenantId } = operator
  const [one, two, three] = await t.given.fleet(operator, { nodes: 3 })
  const insert = (table: string, row: Record<string, unknown>) => {
    const columns = Object.keys(row)
    return t.runtime.db.$client.query(
      `insert into ${table} (${columns.join(', ')}) values (${columns.map((_, i) => `$${i + 1}`).join(', ')})`,
      Object.values(row),
    )
  }
  const agent = { tenant_id: tenantId, state_since: new Date(), registered_at: new Date() }
  await insert('agents', { ...agent, node_id: one!.id, agent_id: one!.name, cluster: 'training', state: 'ACTIVE' })
  await insert('agents', { ...agent, node_id: two!.id, agent_id: two!.name, cluster: 'lab', state: 'OFFLINE' })
  const heartbeat = { boot_epoch: 0, sequence: 7, received_at: new Date(), skew_ms: 1500, cpu_percent: 41.2, missed: 2 }
  await insert('agent_heartbeats', { node_id: one!.id, ...heartbeat })
  const waiting = { public_key: OTHER, status: 'WAITING', created_by_name: 'agent', seen_from: '10.0.0.1' }
  await insert('agent_keys', { id: crypto.randomUUID(), tenant_id: tenantId, node_id: one!.id, ...waiting })
  const offline = { kind: 'offline', severity: 'critical', key: `node:${two!.id}` }
  await insert('alerts', { id: crypto.randomUUID(), tenant_id: tenantId, node_id: two!.id, ...offline })
  const lost = { kind: 'accelerator_lost', severity: 'critical', key: `node:${three!.id}` }
  await insert('alerts', { id: crypto.randomUUID(), tenant_id: tenantId, node_id: three!.id, ...lost })
  await t.signIn(operator)
})
afterAll(() => t?.close())

it('lists agents, enrolls them and approves changes', async () => {
  expect((await muster('agent list')).out).toMatch(/^gpu001 +ACTIVE .* training +key +7 +2 +1\.5 s/m)
  expect(JSON.parse((await muster('agent list --state offline -o json')).out)).toMatchObject([{ name: 'gpu002' }])
  expect(JSON.parse((await muster('agent list --changed -o json')).out)).toMatchObject([{ name: 'gpu001' }])
  const token = await muster('agent token gpu003 --minutes 5')
  expect(token).toMatchObject({ code: 0, out: expect.stringMatching(/^mse_\S{40,}\n$/), err: expect.stringContaining('once') })
  expect(token.err).not.toContain('mse_')
  expect((await muster(`agent allow ${KEY} gpu003`)).err).toBe(`Allowed ${fingerprintOf(KEY)} for gpu003.\n`)
  expect(await muster('agent approve gpu001')).toMatchObject({ code: 2, err: expect.stringContaining(OTHER) })
  expect((await muster(`agent approve gpu001 ${OTHER}`)).code).toBe(0)
  expect((await muster('agent list gpu001')).out).toMatch(/ training +ok /)
  expect((await muster(`agent revoke ${fingerprintOf(KEY)} --reason lost`)).err).toBe(
    `Revoked ${fingerprintOf(KEY)} of gpu003.\n`,
  )
  const rejected = [
    ['agent approve gpu001 SHA256:other', 5, 'has no change to approve'],
    ['agent approve gpu003', 4, 'has no agent'],
    ['agent revoke SHA256:nope --reason x', 4, 'No key SHA256:nope'],
    ['agent allow nonsense', 5, 'publicKey'],
    ['agent token nope', 4, 'muster node list'],
  ] as const
  for (const [line, code, reason] of rejected)
    expect(await muster(line)).toMatchObject({ code, err: expect.stringContaining(reason) })
})

it('lists and revokes enrollment tokens', async () => {
  expect((await muster('agent token create --note for_the_rack')).code).toBe(0)
  const { out } = await muster('agent token list')
  const [, prefix] = /^(mse_\S{8}) +USABLE +any node .* for the rack/m.exec(out)!
  expect((await muster(['agent', 'token', 'revoke', prefix!])).err).toBe(`Revoked ${prefix}….\n`)
  expect((await muster('agent token list')).out).not.toContain(prefix)
  expect((await muster('agent token list --all')).out).toMatch(/^mse_\S+ +REVOKED /m)
  expect(await muster(['agent', 'token', 'revoke', prefix!])).toMatchObject({
    code: 5,
    err: expect.stringContaining('already revoked'),
  })
  expect(await muster('agent token revoke nothing')).toMatchObject({ code: 4, err: expect.stringContaining('token list') })
})

it('shows and changes the heartbeat settings', async () => {
  expect((await muster('agent settings')).out).toMatch(/^heartbeat +every 30 s$/m)
  await t.signIn(admin)
  expect((await muster('agent settings set --stale 90 --deregister-after-days 7')).out).toMatch(
    /^stale +after 90 s\noffline +after 300 s\n.*\nderegistered +after 7 days/m,
  )
  expect((await muster('agent settings set --deregister-after-days none')).out).toContain('never automatically')
  expect(await muster('agent settings set --stale 40')).toMatchObject({
    code: 5,
    err: expect.stringMatching(/^staleAfterSeconds: /),
  })
  expect(await muster('agent settings set')).toMatchObject({ code: 2 })
  expect((await muster('retention set --logs none')).out).toMatch(/^logs +forever$/m)
  await t.signIn(operator)
  expect(await muster('agent settings set --stale 90')).toMatchObject({ code: 3 })
})

it('filters nodes by agent state', async () => {
  expect((await muster('node list')).out).toMatch(/^gpu003 +READY +HEALTHY +\S+ +- +- /m)
  expect(JSON.parse((await muster('node list --agent offline -o json')).out)).toMatchObject([
    { name: 'gpu002', agent: { state: 'OFFLINE' } },
  ])
})

it('shows an agent, its state changes and its heartbeats', async () => {
  const { out } = await muster('agent get gpu001')
  expect(out).toMatch(/^state +ACTIVE /m)
  expect(out).toMatch(/^CHECK +RESULT +DETAIL$/m)
  expect(JSON.parse((await muster('agent get gpu001 -o json')).out)).toMatchObject({ agent: { lastHeartbeat: { sequence: 7 } } })
  expect(await muster('agent get gpu003')).toMatchObject({ code: 4, err: expect.stringContaining('muster agent token') })
  expect((await muster('agent get gpu*1')).out).toMatch(/^node +gpu001$/m)
  for (const command of ['get', 'history', 'heartbeats', 'approve']) {
    const several = await muster(`agent ${command} gpu[001-002]`)
    expect(several).toMatchObject({ code: 2, err: expect.stringContaining('matches 2 nodes') })
    expect(await muster(`agent ${command} tag:none`)).toMatchObject({ code: 4, err: expect.stringContaining('No nodes match') })
  }
  expect((await muster('agent history gpu001')).err).toBe('gpu001 has no state changes yet.\n')
  await muster('agent drain gpu001 --reason disk')
  await muster('agent resume gpu001')
  expect((await muster('agent history gpu001')).out).toMatch(/^AT +FROM +TO +REASON/)
  expect((await muster('agent heartbeats gpu001')).err).toBe('No heartbeats from gpu001 in the last day.\n')
  await t.runtime.db.$client.query(
    `insert into agent_heartbeat_history (node_id, bucket_at, beats, missed, cpu_percent)
     select id, date_bin('5 min', now(), 'epoch') - interval '5 min', 10, 2, 40 from compute_nodes where name = 'gpu001'`,
  )
  expect((await muster('agent heartbeats gpu001')).out).toMatch(/ 10 +2 +40 % /)
})

it('drains, resumes, resets the sequence and deregisters', async () => {
  expect((await muster('agent drain gpu001 --reason a_new_disk')).out).toMatch(/^gpu001: [A-Z]+\n$/)
  expect(await muster('agent drain gpu001 --reason again')).toMatchObject({ code: 5, err: expect.stringContaining('already') })
  expect((await muster('agent resume gpu001')).code).toBe(0)
  expect((await muster('agent reset-sequence gpu001')).out).toBe('gpu001: sequence reset\n')
  expect((await muster('agent deregister gpu002 --reason gone')).out).toBe('gpu002: DEREGISTERED\n')
  expect(await muster('agent deregister gpu002')).toMatchObject({ code: 5, err: expect.stringContaining('already deregistered') })
})

it('lists, acknowledges, silences and resolves alerts', async () => {
  const { out } = await muster('alert list --all')
  const [, id] = /^(\S{8}) +CRITICAL .* gpu002 is offline/m.exec(out)!
  expect(JSON.parse((await muster('alert list --all --node gpu001 -o json')).out)).toEqual([])
  const whole = JSON.parse((await muster('alert list --all --node gpu002 -o json')).out)[0].id
  expect((await muster(`alert ack ${Buffer.from(whole, 'base64').toString().split(':')[1]} --note on_it`)).err).toBe(
    'Acknowledged: gpu002 is offline.\n',
  )
  const both = await muster('alert list --all -o json')
  const ids = JSON.parse(both.out).map((alert: { id: string }) => Buffer.from(alert.id, 'base64').toString().split(':')[1])
  expect((await muster(`alert ack ${ids.join(' ')}`)).err.trim().split('\n')).toHaveLength(ids.length)
  const lost = JSON.parse((await muster('alert list --node gpu003 -o json')).out)[0].id
  expect(await muster(`alert resolve ${lost}`)).toMatchObject({ code: 3 })
  await t.signIn(admin)
  expect(await muster(`alert resolve ${whole}`)).toMatchObject({ code: 5, err: expect.stringContaining('already resolved') })
  expect((await muster(`alert resolve ${lost} --note sold`)).err).toBe('Resolved: gpu003 lost an accelerator.\n')
  await t.signIn(operator)
  expect(await muster('alert ack deadbeef')).toMatchObject({ code: 4, err: expect.stringContaining('muster alert list') })
  expect(id).toHaveLength(8)
  expect((await muster('alert silence --reason moving --minutes 5 --kind offline --query name_=_gpu002')).code).toBe(0)
  expect(await muster('alert silence --reason x --query tagg=a')).toMatchObject({ code: 5 })
})

it('follows alerts until Ctrl-C', async () => {
  const following = muster('alert list --all --follow --node gpu003 -o json')
  const written = () => vi.mocked(process.stdout.write).mock.calls.map(([text]) => String(text))
  await expect.poll(written).toHaveLength(1)
  // Of another node, and of this one.
  for (const name of ['gpu001', 'gpu003'])
    await t.runtime.db.$client.query(
      `insert into alerts (id, tenant_id, node_id, kind, severity, key)
       select gen_random_uuid(), tenant_id, id, 'clock_skew', 'warning', 'node:' || id from compute_nodes where name = $1`,
      [name],
    )
  await expect.poll(written).toHaveLength(2)
  process.emit('SIGINT')
  const { code, out } = await following
  expect(code).toBe(130)
  const last = out.trimEnd().split('\n').at(-1)!
  expect(JSON.parse(last)).toMatchObject({ message: 'gpu003 has a wrong clock', node: { name: 'gpu003' } })
  expect(out).not.toContain('gpu001')
})

it('prints all nodes without a terminal, and the worst ones with one', async () => {
  expect((await muster('top')).out).toMatch(/^2 nodes: .*\nNODE +STATE .*\n[\s\S]*gpu001 +[A-Z]+ /)
  const row = (name: string, state: TopRow['state']): TopRow => ({
    name,
    state,
    cluster: 'c',
    receivedAt: '2026-01-01T00:00:00Z',
    health: 'HEALTHY',
    cpuPercent: 12.4,
    memoryPercent: null,
    skewMs: -200,
  })
  const rows = [row('b', 'ACTIVE'), row('a', 'ACTIVE'), row('z', 'OFFLINE'), row('y', 'STALE')]
  expect(frame(rows, { width: 61, height: 6 }, Date.parse('2026-01-01T00:00:20Z'))).toEqual([
    '4 nodes: 1 OFFLINE, 1 STALE, 2 ACTIVE, hidden columns: SKEW',
    'NODE  STATE    LAST SEEN  CPU   MEMORY  HEALTH   CLUSTER',
    'z     OFFLINE  20 s ago   12 %  -       HEALTHY  c',
    'y     STALE    20 s ago   12 %  -       HEALTHY  c',
    'a     ACTIVE   20 s ago   12 %  -       HEALTHY  c',
  ])
  expect(frame([])).toEqual(['0 nodes: no agents'])
})
