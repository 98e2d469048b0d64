import { expect, test } from 'vitest'
import { evidenceText } from './evidence.ts'

test('describes the evidence of a state change', () => {
  expect(
    evidenceText({ receivedAt: '2026-01-01T00:00:00Z', silentS: 121.004, bootEpoch: 3, sequence: 41_233, runningJobs: 1 }),
  ).toBe('silent for 2 m 01 s · heartbeat 41,233 · 1 running job')
  expect(evidenceText({ silentS: 0.012, seenFrom: '10.1.0.3' })).toBe('from 10.1.0.3')
  expect(evidenceText({ drainedBy: 'Ada', drainReason: 'a new disk', isHeld: null })).toBe(
    'drain requested by Ada · “a new disk”',
  )
})

test('shows unknown evidence by its field name', () => {
  expect(evidenceText({ newSpeedMs: 12, some_thing: { a: 1 }, constructor: 'x' })).toBe(
    'new speed ms: 12 · some thing: {"a":1} · constructor: x',
  )
  expect([evidenceText(null), evidenceText('x'), evidenceText({})]).toEqual(['', '', ''])
})
