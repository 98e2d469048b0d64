import { verify as ed25519 } from 'node:crypto'
import fs from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import vectors from '../vectors.json' with { type: 'json' }
import { FIELDS } from './fields.ts'
import {
  encodeHeartbeat,
  envelope,
  goTime,
  Heartbeat,
  heartbeatSlice,
  newIdentity,
  proofBytes,
  publicKey,
  RegisterRequest,
  sign,
  verify,
} from './index.ts'

const beat = Heartbeat.parse(vectors.heartbeats[0]!.value)
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

test('what is signed are the keys in their order, compact, and escaped for HTML', () => {
  expect(text(encodeHeartbeat({ ...beat, hardware_fingerprint: '<&>', zz: 1 }))).toBe(
    '{"node_id":"node-001","cluster_id":"hpc-1","sequence_number":42,"timestamp":"2026-01-15T10:30:00.12Z","agent_version":"0.1.0",' +
      '"boot_epoch":3,"capacity":{"cpu_cores_total":64,"cpu_cores_available":32,"memory_gb_total":512,"gpu_type":null},' +
      '"health":{"status":"healthy","uptime_seconds":86400,"load_average_1m":"0.500000"},' +
      '"hardware_fingerprint":"\\u003c\\u0026\\u003e","zz":1}',
  )
})

test.each(vectors.heartbeats)('heartbeat $value.sequence_number of the vectors', ({ value, signed, auth, body }) => {
  const bytes = encodeHeartbeat(Heartbeat.parse(value))
  expect(text(bytes)).toBe(signed)
  expect(text(envelope(bytes, auth))).toBe(body)
  expect(text(heartbeatSlice(Buffer.from(body)))).toBe(signed)
  expect(verify(bytes, auth.signature, publicKey(vectors.key.public_key))).toBe(true)
})

test('the registration of the vectors', () => {
  const { request, proof } = vectors.registration
  expect(RegisterRequest.safeParse({ ...request, proof }).success).toBe(true)
  const { key } = publicKey(vectors.key.public_key)
  expect(ed25519(null, proofBytes(request, proof.timestamp), key, Buffer.from(proof.signature, 'base64'))).toBe(true)
  expect(text(proofBytes({ node_id: 'node-1', cluster_id: 'c' }, 7))).toBe('muster register v1\nnode-1\nc\n7\n\n')
})

test('the guide shows what the vectors hold', () => {
  const guide = fs.readFileSync(new URL('../../../docs/agent-protocol.md', import.meta.url), 'utf8')
  const { request, proof } = vectors.registration
  expect(guide).toContain(`\n${vectors.heartbeats[0]!.body}\n`)
  expect(guide).toContain(`\n${JSON.stringify({ ...request, proof })}\n`)
  expect(guide).toContain(`\n${text(proofBytes(request, proof.timestamp))}`)
})

test.each([
  ['2026-01-15T10:30:00.120Z', '2026-01-15T10:30:00.12Z'],
  ['2026-01-15T10:30:00.000Z', '2026-01-15T10:30:00Z'],
  ['2026-01-15T10:30:10.007Z', '2026-01-15T10:30:10.007Z'],
])('%s is written as Go writes it: %s', (given, expected) => {
  expect(goTime(new Date(given))).toBe(expected)
})

test('the order names what the shapes name', () => {
  for (const [section, fields] of Object.entries(FIELDS)) {
    const shape = section ? Object(Heartbeat.shape)[section] : Heartbeat
    const named = Object.keys((shape.unwrap?.().unwrap?.() ?? shape).shape)
    expect(named.slice(0, fields.length)).toEqual(fields)
  }
})

/** Of any UTF-16 code units, halves of surrogate pairs among them. */
const anyText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))

test('any text goes through a signature and back', () => {
  const { privateKey, publicKey: key } = newIdentity()
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (reason, sequence_number) => {
      const bytes = encodeHeartbeat({ ...beat, sequence_number, health: { status: 'healthy', reasons: [reason] } })
      const body = envelope(bytes, sign(bytes, privateKey, new Date(0)))
      fc.pre(!reason.includes('\0'))
      expect(text(heartbeatSlice(body))).toBe(text(bytes))
      expect(JSON.parse(text(bytes)).health.reasons).toEqual([reason.toWellFormed()])
      expect(verify(bytes, JSON.parse(text(body)).auth.signature, key)).toBe(true)
    }),
    { numRuns: 200 },
  )
})
