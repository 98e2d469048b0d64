import { schema } from '@muster/core/registry'
import { FAULT_TIMEOUT, insertAgents, scaleIterations } from '@muster/core/testing'
import vectors from '@muster/protocol/vectors.json' with { type: 'json' }
import { sql } from 'drizzle-orm'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentClient, makeKeys } from '../../testing/agent-client.ts'
import { testApi } from '../../testing/api.ts'
import { maliciousBodies, seededRandom } from '../../testing/malicious-heartbeats.ts'
import { acceptByReference, type CachedAgent } from '../../testing/reference-heartbeat.ts'
import { type HttpServer, serveHttp } from '../server.ts'
import { createHeartbeatEvaluator } from './evaluate-heartbeat.ts'
import { heartbeatMetrics } from './metrics.ts'

const COUNT = scaleIterations(10_000_000)
/** Agents that send concurrently, one body at a time each, so that commits hold many heartbeats. */
const AGENTS = 400
/** One body in OVER_HTTP goes over HTTP; the others go directly to the evaluator. */
const OVER_HTTP = 100
const SEED = 20_260_301

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

/** Inserts agents with known private keys and fingerprints. */
async function insertTestAgents(): Promise<CachedAgent[]> {
  const { system } = await t.given.tenant()
  const inserted = await insertAgents(system, AGENTS, { prefix: 'malicious' })
  const keys = inserted.map(makeKeys)
  const publicKeys = JSON.stringify(inserted.map(({ keyId }, i) => ({ keyId, key: keys[i]!.publicKey })))
  await t.runtime.db.execute(sql`update ${schema.agentKeys} set public_key = g.key
    from jsonb_to_recordset(${publicKeys}::jsonb) as g("keyId" uuid, key text) where id = g."keyId"`)
  await t.runtime.db.execute(sql`update ${schema.agents} set fingerprint = 'this machine'`)
  return inserted.map(({ name }, i) => ({
    name,
    cluster: 'lab',
    fingerprint: 'this machine',
    privateKey: keys[i]!.privateKey,
    last: [0, 0],
  }))
}

test(`accepts exactly the valid ones of ${COUNT} malicious bodies`, { timeout: FAULT_TIMEOUT }, async () => {
  const agents = await insertTestAgents()
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  const evaluateHeartbeat = createHeartbeatEvaluator(t.runtime, heartbeatMetrics(new Registry()))
  const client = agentClient(`http://127.0.0.1:${server.port}`)
  const overHttp = async (body: Buffer) => {
    const { accepted, status, error } = await client.send(new Uint8Array(body))
    return [200, 400, 413].includes(status) ? accepted : `${status} ${error?.code}`
  }
  const inProcess = async (body: Buffer) => {
    const verdict = await evaluateHeartbeat(body).catch((error: unknown) => String(error))
    if (typeof verdict === 'string') return verdict
    return 'code' in verdict ? verdict.code === 'busy' && 'busy' : true
  }
  const next = maliciousBodies(agents, seededRandom(SEED))
  const mismatches: string[] = []
  const counted = { sent: 0, accepted: 0 }
  const send = async (agent: CachedAgent) => {
    while (counted.sent < COUNT && mismatches.length < 10) {
      const isOverHttp = counted.sent++ % OVER_HTTP === 0
      const body = next(agent)
      const expected = acceptByReference(body, byName)
      const answer = await (isOverHttp ? overHttp(body) : inProcess(body))
      if (expected) counted.accepted++
      if (answer !== expected) mismatches.push(`${answer} instead of ${expected} for ${body.toString('base64')}`)
    }
  }
  await Promise.all(agents.map(send))
  expect(mismatches).toEqual([])
  expect(counted.sent).toBe(COUNT)
  // Fails when the generator only makes bodies that fail at the first check.
  expect(counted.accepted).toBeGreaterThan(COUNT / 50)
  expect({}).not.toHaveProperty('polluted')
  expect(await t.runtime.db.query.agentHeartbeats.findMany({ columns: { bootEpoch: true, sequence: true } })).toHaveLength(AGENTS)
})

test('rejects weak keys, which verify forged signatures', async () => {
  const { operator } = await t.given.tenant()
  const client = agentClient(`http://127.0.0.1:${server.port}`)
  for (const { public_key: publicKey } of vectors.rejected_keys) {
    const { answer } = await client.enroll(operator, undefined, { ...makeKeys(), publicKey })
    expect(answer).toMatchObject({ accepted: false, error: { code: expect.stringMatching(/invalid_request|key_not_allowed/) } })
  }
})
