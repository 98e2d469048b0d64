import { verify as ed25519 } from 'node:crypto'
import fs from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import vectors from '../vectors.json' with { type: 'json' }
import { FIELDS } from './fields.ts'
import {
  encodeHeartbeat,
  encodeProof,
  envelope,
  extractHeartbeat,
  formatGoTime,
  Heartbeat,
  newIdentity,
  publicKey,
  RegisterRequest,
  sign,
  verify,
} from './index.ts'

const heartbeat = Heartbeat.parse(vectors.heartbeats[0]!.value)
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

test('encodes compact JSON with ordered keys and HTML escaping', () => {
  expect(text(encodeHeartbeat({ ...heartbeat, hardware_fingerprint: '<&>', zz: 1 }))).toBe(
    '{"node_id":"node-001","cluster_id":"hpc-1","sequence_number":42,"timestamp":"2026-01-15T10:30:00.12Z","agent_version":"0.1.0",' +
      '"boot_epoch":3,"capacity":{"cpu_cores_total":64,"cpu_cores_available":32,"memory_gb_total":512,"gpu_type":null},' +
      '"health":{"status":"healthy","uptime_seconds":86400,"load_average_1m":"0.500000"},' +
      '"hardware_fingerprint":"\\u003c\\u0026\\u003e","zz":1}',
  )
})

test.each(vectors.heartbeats)('vector: heartbeat $value.sequence_number', ({ value, signed, auth, body }) => {
  const bytes = encodeHeartbeat(Heartbeat.parse(value))
  expect(text(bytes)).toBe(signed)
  expect(text(envelope(bytes, auth))).toBe(body)
  expect(text(extractHeartbeat(Buffer.from(body)))).toBe(signed)
  expect(verify(bytes, auth.signature, publicKey(vectors.key.public_key))).toBe(true)
})

test('vector: registration', () => {
  const { request, proof } = vectors.registration
  expect(RegisterRequest.safeParse({ ...request, proof }).success).toBe(true)
  const { key } = publicKey(vectors.key.public_key)
  expect(ed25519(null, encodeProof(request, proof.timestamp), key, Buffer.from(proof.signature, 'base64'))).toBe(true)
  expect(text(encodeProof({ node_id: 'node-1', cluster_id: 'c' }, 7))).toBe('muster register v1\nnode-1\nc\n7\n\n')
})

test('docs/agent-protocol.md shows the vectors', () => {
  const guide = fs.readFileSync(new URL('../../../docs/agent-protocol.md', import.meta.url), 'utf8')
  const { request, proof } = vectors.registration
  expect(guide).toContain(`\n${vectors.heartbeats[0]!.body}\n`)
  expect(guide).toContain(`\n${JSON.stringify({ ...request, proof })}\n`)
  expect(guide).toContain(`\n${text(encodeProof(request, proof.timestamp))}`)
})

test.each([
  ['2026-01-15T10:30:00.120Z', '2026-01-15T10:30:00.12Z'],
  ['2026-01-15T10:30:00.000Z', '2026-01-15T10:30:00Z'],
  ['2026-01-15T10:30:10.007Z', '2026-01-15T10:30:10.007Z'],
])('formats %s like Go: %s', (iso, expected) => {
  expect(formatGoTime(new Date(iso))).toBe(expected)
})

test('FIELDS matches the schemas', () => {
  for (const [section, fields] of Object.entries(FIELDS)) {
    const schema = section ? Object(Heartbeat.shape)[section] : Heartbeat
    const names = Object.keys((schema.unwrap?.().unwrap?.() ?? schema).shape)
    expect(names.slice(0, fields.length)).toEqual(fields)
  }
})

/** Any UTF-16 code units, lone surrogates included. */
const anyText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))

test('signs and round-trips any text', () => {
  const { privateKey, publicKey: key } = newIdentity()
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (reason, sequence_number) => {
      const bytes = encodeHeartbeat({ ...heartbeat, sequence_number, health: { status: 'healthy', reasons: [reason] } })
      const body = envelope(bytes, sign(bytes, privateKey, new Date(0)))
      fc.pre(!reason.includes('\0'))
      expect(text(extractHeartbeat(body))).toBe(text(bytes))
      expect(JSON.parse(text(bytes)).health.reasons).toEqual([reason.toWellFormed()])
      expect(verify(bytes, JSON.parse(text(body)).auth.signature, key)).toBe(true)
    }),
    { numRuns: 200 },
  )
})
