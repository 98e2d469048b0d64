import { newIdentity, parseBody } from '@muster/protocol/agent'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoff, deliver, parseResult } from './deliver.ts'

const rejection = (code: string) => ({
  status: 200,
  body: { accepted: false, error: { code, message: code } },
  retryAfterSeconds: null,
})

test.each([
  [{ status: 200, body: { accepted: true }, retryAfterSeconds: null }, 'accepted'],
  [rejection('stale_sequence'), 'rejected'],
  [
    { status: 200, body: { accepted: false, errors: [{ code: 'stale_sequence', message: 'm' }] }, retryAfterSeconds: null },
    'rejected',
  ],
  [rejection('node_not_registered'), 'unregistered'],
  [rejection('timestamp_out_of_range'), 'retry'],
  [rejection('signature_invalid'), 'retry'],
  [rejection('cluster_mismatch'), 'retry'],
  [{ status: 400, body: {}, retryAfterSeconds: null }, 'rejected'],
  [{ status: 413, body: {}, retryAfterSeconds: null }, 'rejected'],
  [{ status: 302, body: {}, retryAfterSeconds: null }, 'retry'],
  [{ status: 404, body: {}, retryAfterSeconds: null }, 'retry'],
  [{ status: 429, body: {}, retryAfterSeconds: 7 }, 'retry'],
  [{ status: 502, body: {}, retryAfterSeconds: null }, 'retry'],
  [{ status: 200, body: {}, retryAfterSeconds: null }, 'retry'],
  [{ failure: 'ECONNREFUSED' }, 'retry'],
])('%j: %s', (result, outcome) => {
  expect(parseResult(result).outcome).toBe(outcome)
})

test.each([
  [5, 5],
  [0, null],
  [-1, null],
  ['30', null],
  [1e9, 3600],
])('next_heartbeat_seconds %j: interval %j', (next_heartbeat_seconds, interval) => {
  const result = parseResult({ status: 200, body: { accepted: true, next_heartbeat_seconds }, retryAfterSeconds: null })
  expect(result.intervalSeconds).toBe(interval)
})

test('ignores the interval of a rejection', () => {
  const busy = { status: 429, body: { accepted: false, next_heartbeat_seconds: 5 }, retryAfterSeconds: 7 }
  expect(parseResult(busy)).toMatchObject({ intervalSeconds: null, retryAfterSeconds: 7 })
})

test('backoff stays between one second and one minute, and grows', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 60_000, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (last, random) => {
      const wait = backoff(last, random)
      expect(wait).toBeGreaterThanOrEqual(1000)
      expect(wait).toBeLessThanOrEqual(60_000)
    }),
  )
  const grown = Array.from({ length: 12 }).reduce<number>((last) => backoff(last, 0.9), 0)
  expect(grown).toBe(60_000)
})

test.each([
  [5000, false],
  [5001, true],
])('a heartbeat sent %i ms after its measurement carries measured_at: %s', async (delay, hasMeasuredAt) => {
  const sent: Uint8Array[] = []
  const api = async (_: string, body: Uint8Array<ArrayBuffer> | string) => {
    sent.push(Buffer.from(body as Uint8Array))
    return { failure: 'x' }
  }
  const measuredAt = new Date('2026-01-01T00:00:00.000Z')
  const heartbeatJson = { sequence_number: 1, measured_at: '2026-01-01T00:00:00Z' }
  const sender = { node_id: 'node-1', cluster_id: 'c' }
  await deliver(api, JSON.stringify(heartbeatJson), sender, newIdentity(), new Date(measuredAt.getTime() + delay))
  const { heartbeat } = parseBody(sent[0]!).value as { heartbeat: Record<string, unknown> }
  expect(heartbeat.measured_at).toBe(hasMeasuredAt ? '2026-01-01T00:00:00Z' : undefined)
  expect(Date.parse(heartbeat.timestamp as string)).toBe(measuredAt.getTime() + delay)
})
