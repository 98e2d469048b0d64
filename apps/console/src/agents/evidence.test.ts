import { expect, test } from 'vitest'
import { evidenceText } from './evidence.ts'

const none = {
  silentSeconds: null,
  rejectionCode: null,
  rejectionCount: null,
  sequence: null,
  slurmState: null,
  runningJobs: null,
  drainRequestedBy: null,
  drainReason: null,
  isOfflineSuppressed: false,
  requestedBy: null,
  reason: null,
  seenFrom: null,
}

test('describes the evidence of a state change', () => {
  expect(evidenceText({ ...none, silentSeconds: 121.004, sequence: 41_233, runningJobs: 1 })).toBe(
    'silent for 2 m 01 s · heartbeat 41,233 · 1 running job',
  )
  expect(evidenceText({ ...none, silentSeconds: 0.012, seenFrom: '10.1.0.3' })).toBe('from 10.1.0.3')
  expect(evidenceText({ ...none, drainRequestedBy: { name: 'Ada' }, drainReason: 'a new disk' })).toBe(
    'drain requested by Ada · “a new disk”',
  )
  expect(evidenceText({ ...none, isOfflineSuppressed: true })).toBe('mass outage')
  expect(evidenceText({ ...none, requestedBy: { name: 'Ada' }, reason: 'sold' })).toBe('by Ada · “sold”')
  expect(evidenceText(none)).toBe('')
})
