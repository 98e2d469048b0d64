import { sign } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import {
  allowAgentKey,
  createEnrollmentToken,
  deregisterAgent,
  resetAgentSequence,
  revokeAgentKey,
  updateAgentSettings,
} from '@muster/core/agents'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { createProof, encodeHeartbeat } from '@muster/protocol'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { agentClient, aHeartbeat, makeKeys, newName, signedBody } from '../../testing/agent-client.ts'
import { testApi } from '../../testing/api.ts'
import { type HttpServer, serveHttp } from '../server.ts'
import { createBodyLimiter } from './body-limiter.ts'

const { agentKeys } = schema

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let other: HttpServer
let client: ReturnType<typeof agentClient>
let fixture: TenantFixture
const rejected = (code: string, status = 200) => ({ accepted: false, status, error: { code } })
const accepted = { accepted: true, status: 200, next_heartbeat_seconds: 30 }

beforeAll(async () => {
  t = await testApi()
  fixture = await t.given.tenant()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0, trustedProxy: { secret: null } })
  // Acts as a second API process: it has its own caches and batches.
  other = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  client = agentClient(`http://127.0.0.1:${server.port}`)
})
afterAll(async () => {
  await server.stop()
  await other.stop()
  await t.close()
})

const enrolled = async () => {
  const agent = await client.enroll(fixture.operator)
  expect(agent.answer).toMatchObject({ accepted: true, status: 200 })
  return agent
}
/** Values of metrics: accepted, rejected as stale, and observed ingest times. */
const readCounters = async () => {
  const page = await t.api.metrics.registry.metrics()
  const counts = new Map(page.split('\n').map((line) => line.split(' ') as [string, string]))
  const names = [
    'muster_heartbeats_accepted_total',
    'muster_heartbeats_rejected_total{code="stale_sequence"}',
    'muster_heartbeat_ingest_seconds_count',
  ]
  return names.map((name) => Number(counts.get(name) ?? 0))
}
const agentOf = (name: string) =>
  t.runtime.db.query.agents.findFirst({
    where: { agentId: name, tenantId: fixture.tenant.id },
    with: { heartbeat: true, report: true, node: true },
  })

test('registers an agent with a token and stores its heartbeat unchanged', async () => {
  const { name, keys } = await enrolled()
  const health = { status: 'healthy' as const, cpu_utilization_percent: 12.5, slurm_state: 'idle', rack_unit: '<7> & "8"' }
  expect(await client.beat(keys, { node_id: name, health, boot_epoch: 3, sequence_number: 9 })).toEqual({
    ...accepted,
    sequence_ack: 9,
    timestamp: expect.any(String),
    retryAfter: null,
  })
  const agent = await agentOf(name)
  expect(agent).toMatchObject({ state: 'ACTIVE', version: '1.0.0', node: { name }, seenFrom: '127.0.0.1' })
  expect(agent!.heartbeat).toMatchObject({
    bootEpoch: 3,
    sequence: 9,
    cpuPercent: 12.5,
    slurmState: 'idle',
    accepted: 1,
    bucketHeartbeats: 1,
  })
  expect(agent!.report!.report).toMatchObject({ node_id: name, health: { rack_unit: '<7> & "8"' } })
  expect(await (await fetch(`http://127.0.0.1:${server.port}/health`)).json()).toEqual({ status: 'ok' })
})

test('serves both path prefixes and rejects replays across processes', async () => {
  const { name, keys } = await enrolled()
  const ours = agentClient(`http://127.0.0.1:${other.port}`, '/agent/v1')
  expect(await ours.beat(keys, { node_id: name, sequence_number: 1 })).toMatchObject(accepted)
  expect(await client.beat(keys, { node_id: name, sequence_number: 1 })).toMatchObject(rejected('stale_sequence'))
  expect(await client.beat(keys, { node_id: name, sequence_number: 2 })).toMatchObject(accepted)
})

describe('rejections, in the order of the wire protocol', () => {
  test('malformed bodies', async () => {
    const { name, keys } = await enrolled()
    const whole = Buffer.from(signedBody(aHeartbeat({ node_id: name }), keys)).toString()
    const of = (body: string) => client.send(body, name)
    expect(await of('')).toMatchObject(rejected('invalid_request', 400))
    expect(await of('[]')).toMatchObject(rejected('invalid_request', 400))
    expect(await of(whole.slice(0, -1))).toMatchObject(rejected('invalid_request', 400))
    expect(await of(`${whole} x`)).toMatchObject(rejected('invalid_request', 400))
    expect(await of(`{"heartbeat":{},${whole.slice(1)}`)).toMatchObject(rejected('invalid_request', 400))
    expect(await of(whole.replace('"cluster_id"', '"__proto__":{},"cluster_id"'))).toMatchObject(rejected('invalid_request', 400))
    expect(await of('{}')).toMatchObject(rejected('missing_fields', 400))
    expect(await of(whole.replace('"node_id"', '"no_id"'))).toMatchObject(rejected('missing_fields', 400))
    expect(await of(whole.replace('"signature"', '"sig"'))).toMatchObject(rejected('missing_fields', 400))
    expect(await of(whole.replace('"sequence_number":1', '"sequence_number":"1"'))).toMatchObject(
      rejected('invalid_request', 400),
    )
    expect(await of(' '.repeat(70_000))).toMatchObject(rejected('too_large', 413))
    expect(await of(`{"a":"${'x'.repeat(64 * 1024)}"}`)).toMatchObject(rejected('too_large', 413))
    expect(await of(whole)).toMatchObject(accepted)
    const got = await fetch(`http://127.0.0.1:${server.port}/api/v1/hpc/nodes/${name}/heartbeat`)
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('unknown agent, cluster or key', async () => {
    const { name, keys } = await enrolled()
    expect(await client.beat(keys, { node_id: 'nobody-1' })).toMatchObject(rejected('node_not_registered'))
    expect(await client.beat(keys, { node_id: name, cluster_id: 'other' })).toMatchObject(rejected('cluster_mismatch'))
    expect(await client.beat(makeKeys(), { node_id: name })).toMatchObject(rejected('signature_invalid'))
    const changed = Buffer.from(signedBody(aHeartbeat({ node_id: name }), keys))
      .toString()
      .replace('"gpus_total":8', '"gpus_total":9')
    expect(await client.send(changed)).toMatchObject(rejected('signature_invalid'))
  })

  test('verifies the signature over the received bytes, not over re-encoded JSON', async () => {
    const { name, keys } = await enrolled()
    const bytes = `{ "sequence_number": 1.0e0, "z":"\\u003c\\/",\n${encodeHeartbeat(aHeartbeat({ node_id: name }))
      .toString()
      .replace('"sequence_number":1,', '')
      .slice(1)}`
    const signature = sign(null, Buffer.from(bytes), keys.privateKey).toString('base64')
    expect(await client.send(` {"auth":{"signature":"${signature}"}, "heartbeat" :${bytes} } `)).toMatchObject(accepted)
  })

  test.each([
    ['-301', -301_000, rejected('timestamp_out_of_range')],
    ['-295', -295_000, accepted],
    ['+295', 295_000, accepted],
    ['+310', 310_000, rejected('timestamp_out_of_range')],
  ])('clock offset of %s s', async (_, off, expected) => {
    const { name, keys } = await enrolled()
    const timestamp = new Date(Date.now() + off).toISOString()
    expect(await client.beat(keys, { node_id: name, timestamp })).toMatchObject(expected)
  })

  test('values out of range, after all other checks', async () => {
    const { name, keys } = await enrolled()
    const capacity = { cpu_cores_total: 4 }
    const beat = (more: object) => client.beat(keys, { node_id: name, sequence_number: 5, ...more })
    for (const more of [
      { capacity: { cpu_cores_total: 0 } },
      { capacity: { ...capacity, gpus_total: 2, gpus_available: 3 } },
      { health: { status: 'fine' } },
      { sequence_number: 0 },
      { sequence_number: -3 },
    ])
      expect(await beat(more)).toMatchObject(rejected('invalid_request', 400))
    expect(await beat({ capacity: undefined })).toMatchObject(rejected('missing_fields', 400))
    expect(await beat({ boot_epoch: null, health: { status: 'healthy', cpu_utilization_percent: 101 } })).toMatchObject(accepted)
    // Out of range and stale: the check that comes first determines the error.
    expect(await beat({ capacity: { cpu_cores_total: 0 } })).toMatchObject(rejected('stale_sequence'))
  })

  test('replays and older values of boot epoch and sequence', async () => {
    const before = await readCounters()
    const { name, keys } = await enrolled()
    const at = (boot_epoch: number, sequence_number: number) =>
      signedBody(aHeartbeat({ node_id: name, boot_epoch, sequence_number }), keys)
    const bodies = [at(1, 5), at(1, 6), at(2, 1)]
    for (const body of bodies) expect(await client.send(body)).toMatchObject(accepted)
    for (const body of [...bodies, at(1, 7), at(2, 1), at(0, 100)])
      expect(await client.send(body)).toMatchObject(rejected('stale_sequence'))
    expect(await client.send(at(2, 2))).toMatchObject(accepted)
    expect((await readCounters()).map((count, i) => count - before[i]!)).toEqual([4, 6, 4])
  })
})

test('answers busy while the database is unavailable, and accepts the retry', async () => {
  const { name, keys } = await enrolled()
  const beat = () => client.beat(keys, { node_id: name, sequence_number: 1 })
  const error = Object.assign(new Error('the database system is shutting down'), { code: '57P01' })
  const queryMock = vi.spyOn(t.runtime.db.$client, 'query').mockRejectedValue(error as never)
  const answer = await beat().finally(() => queryMock.mockRestore())
  expect(answer).toMatchObject({ ...rejected('busy', 429), retryAfter: expect.stringMatching(/^[1-5]$/) })
  expect(await beat()).toMatchObject(accepted)
})

test('returns the heartbeat interval of the tenant', async () => {
  const { name, keys } = await enrolled()
  const beat = (sequence_number: number) => client.beat(keys, { node_id: name, sequence_number })
  expect(await beat(1)).toMatchObject(accepted)
  await updateAgentSettings(fixture.admin, { heartbeatIntervalSeconds: 5 })
  let sequence = 1
  await expect.poll(async () => (await beat(++sequence)).next_heartbeat_seconds).toBe(5)
  const elsewhere = await t.given.tenant()
  const stranger = await client.enroll(elsewhere.operator)
  expect(await client.beat(stranger.keys, { node_id: stranger.name, sequence_number: 1 })).toMatchObject(accepted)
  await updateAgentSettings(fixture.admin, { heartbeatIntervalSeconds: 30 })
  await expect.poll(async () => (await beat(++sequence)).next_heartbeat_seconds).toBe(30)
})

test('accepts a heartbeat once when it is sent to two processes concurrently', async () => {
  const { name, keys } = await enrolled()
  const second = agentClient(`http://127.0.0.1:${other.port}`)
  for (let sequence_number = 1; sequence_number <= 5; sequence_number++) {
    const body = signedBody(aHeartbeat({ node_id: name, sequence_number }), keys)
    const replies = await Promise.all([client.send(body), second.send(body), client.send(body), second.send(body)])
    expect(replies.filter((reply) => reply.accepted)).toHaveLength(1)
    expect(replies.filter((reply) => reply.error?.code === 'stale_sequence')).toHaveLength(3)
  }
  expect((await agentOf(name))!.heartbeat).toMatchObject({ accepted: 5, sequence: 5, missed: 0 })
})

test('rejects a revoked key that is still cached', async () => {
  const { name, keys } = await enrolled()
  expect(await client.beat(keys, { node_id: name, sequence_number: 1 })).toMatchObject(accepted)
  const { keyId } = (await agentOf(name))!
  await revokeAgentKey(fixture.operator, { id: keyId!, reason: 'lost' })
  expect(await client.beat(keys, { node_id: name, sequence_number: 2 })).toMatchObject(rejected('signature_invalid'))
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['-oProxyCommand=id', '127.0.0.1'],
])('records the client address of X-Forwarded-For %s as %s', async (forwardedFor, recorded) => {
  const { token } = await createEnrollmentToken(fixture.operator, {})
  const [name, keys] = [newName(), makeKeys()]
  const request = { node_id: name, cluster_id: 'lab', agent_pubkey: keys.publicKey, enrollment_token: token }
  const body = JSON.stringify({ ...request, proof: createProof(request, keys.privateKey, new Date()) })
  const url = `http://127.0.0.1:${server.port}/agent/v1/nodes/register`
  await fetch(url, { method: 'POST', body, headers: { 'x-forwarded-for': forwardedFor } })
  expect(await agentOf(name)).toMatchObject({ seenFrom: recorded, node: { host: recorded } })
})

test('distinguishes agents of the same name in two tenants by their keys', async () => {
  const theirs = await t.given.tenant()
  const ours = await enrolled()
  const { nodeId } = (await agentOf(ours.name))!
  await t.runtime.db.insert(agentKeys).values(
    Array.from({ length: 70 }, () => ({
      tenantId: fixture.tenant.id,
      nodeId,
      publicKey: makeKeys().publicKey,
      status: 'ALLOWED' as const,
      createdByName: 'test',
    })),
  )
  const second = await client.enroll(theirs.operator, ours.name)
  expect(second.answer).toMatchObject({ accepted: true })
  expect(await client.beat(second.keys, { node_id: ours.name, sequence_number: 7 })).toMatchObject(accepted)
  expect(await client.beat(ours.keys, { node_id: ours.name, sequence_number: 3 })).toMatchObject(accepted)
  expect((await agentOf(ours.name))!.heartbeat).toMatchObject({ sequence: 3 })
})

test('accepts third-party agents without boot epoch, whose sequence restarts at registration', async () => {
  const keys = makeKeys()
  const name = newName()
  await allowAgentKey(fixture.operator, { publicKey: keys.publicKey })
  const request = {
    node_id: name,
    cluster_id: 'lab',
    provider_address: 'virtengine1',
    agent_pubkey: keys.publicKey,
    hostname: 'h',
    region: 'eu',
    datacenter: 'dc1',
  }
  expect(await client.register(request)).toMatchObject({ accepted: true })
  expect((await agentOf(name))!.node).toMatchObject({ region: 'eu', datacenter: 'dc1' })
  const capacity = { cpu_cores_total: 4, cpu_cores_available: 4, memory_gb_total: 8, memory_gb_available: 8 }
  const beat = (sequence_number: number) => signedBody(aHeartbeat({ node_id: name, sequence_number, capacity }), keys)
  const old = [beat(1), beat(2)]
  for (const body of old) expect(await client.send(body)).toMatchObject(accepted)
  expect(await client.send(beat(1))).toMatchObject(rejected('stale_sequence'))
  expect(await client.register(request)).toMatchObject({ accepted: true })
  // Heartbeats from before the registration are still replays.
  for (const body of old) expect(await client.send(body)).toMatchObject(rejected('stale_sequence'))
  expect(await client.send(beat(1))).toMatchObject(accepted)
  expect(await client.send(beat(1))).toMatchObject(rejected('stale_sequence'))
  await resetAgentSequence(fixture.operator, { nodeId: (await agentOf(name))!.nodeId })
  expect(await client.send(beat(1))).toMatchObject(accepted)
  expect(await client.register({ ...request, cluster_id: 'elsewhere' })).toMatchObject(rejected('cluster_mismatch', 403))
})

test('answers in the format of the agents of the field, and records why heartbeats are rejected', async () => {
  const { name, keys } = await enrolled()
  const answer = await client.beat(keys, { node_id: name, sequence_number: 7 })
  expect(answer).toMatchObject({ accepted: true, sequence_ack: 7, timestamp: expect.stringMatching(/^\d{4}-.*Z$/) })
  expect(answer.errors).toBeUndefined()
  const refused = await client.beat(keys, { node_id: name, sequence_number: 7 })
  const error = { code: 'stale_sequence', message: expect.stringContaining('reset-sequence') }
  expect(refused).toMatchObject({ accepted: false, sequence_ack: 0, error, errors: [error] })
  await client.beat(keys, { node_id: name, sequence_number: 6 })
  await client.beat(makeKeys(), { node_id: name, sequence_number: 8 })
  const row = { rejectionCode: 'signature_invalid', rejectionCount: 3, rejectedAt: expect.any(Date) }
  await expect.poll(async () => agentOf(name)).toMatchObject(row)
  await client.beat(keys, { node_id: name, sequence_number: 9 })
  await client.beat(keys, { node_id: name, sequence_number: 9 })
  await expect.poll(async () => agentOf(name)).toMatchObject({ rejectionCode: 'stale_sequence', rejectionCount: 1 })
})

test('requires approval of changed hardware, and rejects deregistered agents', async () => {
  const { name, keys } = await enrolled()
  const beat = (sequence_number: number, hardware_fingerprint: string) =>
    client.beat(keys, { node_id: name, sequence_number, hardware_fingerprint })
  expect(await beat(1, 'f1')).toMatchObject(accepted)
  expect(await beat(2, 'f2')).toMatchObject(rejected('approval_pending'))
  expect(await beat(2, 'f1')).toMatchObject(accepted)
  expect(await agentOf(name)).toMatchObject({ fingerprint: 'f1', offeredFingerprint: 'f2' })
  await deregisterAgent(fixture.operator, { nodeId: (await agentOf(name))!.nodeId })
  expect(await beat(3, 'f1')).toMatchObject({ accepted: false })
  expect(await beat(3, 'f1')).toMatchObject(rejected('node_not_registered'))
})

const ADDRESS = '192.0.2.7'

test('one client network does not take the slots of others', async () => {
  const limiter = createBodyLimiter({ bytes: 1000, requests: 3, requestsOfAddress: 2, ms: 60_000 })
  const slow = () => Object.assign(new Readable({ read() {} }), { headers: {} }) as unknown as IncomingMessage
  void limiter.read(slow(), '2001:db8::1')
  void limiter.read(slow(), '2001:db8::2')
  expect(await limiter.read(slow(), '2001:db8::3')).toBe('busy')
  const other = Object.assign(Readable.from([Buffer.alloc(10)]), { headers: {} }) as unknown as IncomingMessage
  expect(await limiter.read(other, '192.0.2.8')).toMatchObject({ body: Buffer.alloc(10) })
})

test('rejects bodies above the buffer limits as busy', async () => {
  const limiter = createBodyLimiter({ bytes: 1000, requests: 2, requestsOfAddress: 2, ms: 60_000 })
  const request = (length: number) =>
    Object.assign(Readable.from([Buffer.alloc(length)]), { headers: {} }) as unknown as IncomingMessage
  const first = await limiter.read(request(600), ADDRESS)
  expect(first).toMatchObject({ body: Buffer.alloc(600) })
  expect(await limiter.read(request(600), ADDRESS)).toBe('busy')
  expect(limiter.usage()).toEqual({ bytes: 600, requests: 1 })
  const second = await limiter.read(request(10), ADDRESS)
  expect(await limiter.read(request(10), ADDRESS)).toBe('busy')
  for (const received of [first, second]) if (typeof received === 'object') received.release()
  expect(limiter.usage()).toEqual({ bytes: 0, requests: 0 })
})

test('releases the slot of an incomplete body after the timeout', async () => {
  const limiter = createBodyLimiter({ bytes: 1000, requests: 1, requestsOfAddress: 1, ms: 10 })
  const slow = Object.assign(new Readable({ read() {} }), { headers: {} })
  slow.push('{')
  expect(await limiter.read(slow as unknown as IncomingMessage, ADDRESS)).toBe('gone')
  expect([slow.destroyed, limiter.usage()]).toEqual([true, { bytes: 0, requests: 0 }])
})
