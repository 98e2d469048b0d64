import { newIdentity, readBody } from '@muster/protocol/light'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoff, deliver, outcome } from './deliver.ts'

const no = (code: string) => ({ status: 200, body: { accepted: false, error: { code, message: code } }, retryAfter: null })

test.each([
  [{ status: 200, body: { accepted: true }, retryAfter: null }, 'accepted'],
  [no('stale_sequence'), 'refused'],
  [no('node_not_registered'), 'unknown_node'],
  [no('timestamp_out_of_range'), 'later'],
  [no('signature_invalid'), 'later'],
  [no('cluster_mismatch'), 'later'],
  [{ status: 400, body: {}, retryAfter: null }, 'refused'],
  [{ status: 413, body: {}, retryAfter: null }, 'refused'],
  [{ status: 302, body: {}, retryAfter: null }, 'later'],
  [{ status: 404, body: {}, retryAfter: null }, 'later'],
  [{ status: 429, body: {}, retryAfter: 7 }, 'later'],
  [{ status: 502, body: {}, retryAfter: null }, 'later'],
  [{ status: 200, body: {}, retryAfter: null }, 'later'],
  [{ failure: 'ECONNREFUSED' }, 'later'],
])('%j: %s', (reply, done) => {
  expect(outcome(reply).done).toBe(done)
})

test.each([
  [5, 5],
  [0, null],
  [-1, null],
  ['30', null],
  [1e9, 3600],
])('next_heartbeat_seconds %j is %j', (given, next) => {
  expect(outcome({ status: 200, body: { accepted: true, next_heartbeat_seconds: given }, retryAfter: null }).next).toBe(next)
})

test('who is not let in is not told how often to beat', () => {
  const busy = { status: 429, body: { accepted: false, next_heartbeat_seconds: 5 }, retryAfter: 7 }
  expect(outcome(busy)).toMatchObject({ next: null, wait: 7 })
})

test('waits stay between one second and five minutes, grow, and differ', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 300_000, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (last, chance) => {
      const wait = backoff(last, chance)
      expect(wait).toBeGreaterThanOrEqual(1000)
      expect(wait).toBeLessThanOrEqual(300_000)
    }),
  )
  const grown = Array.from({ length: 12 }).reduce<number>((last) => backoff(last, 0.9), 0)
  expect(grown).toBe(300_000)
})

test.each([
  [5000, false],
  [5001, true],
])('a beat that is sent %i ms after it was measured: says when it was measured is %s', async (late, says) => {
  const sent: Uint8Array[] = []
  const send = async (_: string, body: Uint8Array<ArrayBuffer> | string) => {
    sent.push(Buffer.from(body as Uint8Array))
    return { failure: 'x' }
  }
  const measuredAt = new Date('2026-01-01T00:00:00.000Z')
  const beat = { sequence_number: 1, measured_at: '2026-01-01T00:00:00Z' }
  const sender = { node_id: 'node-1', cluster_id: 'c' }
  await deliver(send, JSON.stringify(beat), sender, newIdentity(), new Date(measuredAt.getTime() + late))
  const { heartbeat } = readBody(sent[0]!).value as { heartbeat: Record<string, unknown> }
  expect(heartbeat.measured_at).toBe(says ? '2026-01-01T00:00:00Z' : undefined)
  expect(Date.parse(heartbeat.timestamp as string)).toBe(measuredAt.getTime() + late)
})
