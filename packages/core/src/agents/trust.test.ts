import { expect, test } from 'vitest'
import { agentTrust, keyFingerprint } from './trust.ts'

const publicKey = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
const key = { status: 'ALLOWED' as const, publicKey }
const receivedAt = new Date('2026-01-15T10:30:00Z')
const heartbeat = { skewMs: 40, accepted: 10, missed: 0, receivedAt }
const none = { rejectedAt: null, rejectionCode: null, rejectionMessage: null, rejectionCount: 0 }
const well = { ...none, key, isKeyWaiting: false, isKeyShared: false, fingerprint: 'f', offeredFingerprint: null, heartbeat }
const verdicts = (agent: Parameters<typeof agentTrust>[0]) => agentTrust(agent).map(({ isOk }) => isOk)

test('each trust check can fail independently', () => {
  expect(verdicts(well)).toEqual([true, true, true, true, true, true])
  expect(verdicts({ ...well, isKeyWaiting: true })).toEqual([false, true, true, true, true, true])
  expect(verdicts({ ...well, isKeyShared: true })).toEqual([false, true, true, true, true, true])
  expect(verdicts({ ...well, key: { ...key, status: 'REVOKED' } })).toEqual([false, true, true, true, true, true])
  expect(verdicts({ ...well, offeredFingerprint: 'g' })).toEqual([true, true, false, true, true, true])
  expect(verdicts({ ...well, heartbeat: { ...heartbeat, skewMs: -6000 } })).toEqual([true, true, true, false, true, true])
  expect(verdicts({ ...well, heartbeat: { ...heartbeat, missed: 1 } })).toEqual([true, true, true, true, false, true])
  expect(verdicts({ ...well, key: null, fingerprint: null, heartbeat: null })).toEqual([null, null, null, null, null, null])
})

test('names the reason and the number of rejected heartbeats until one is accepted', () => {
  const rejected = {
    rejectedAt: new Date('2026-01-15T10:31:00Z'),
    rejectionCode: 'stale_sequence',
    rejectionMessage: 'Reset it.',
  }
  const acceptance = (receivedAt: Date, rejectionCount = 12) =>
    agentTrust({ ...well, ...rejected, rejectionCount, heartbeat: { ...heartbeat, receivedAt } }).at(-1)
  expect(acceptance(receivedAt)).toEqual({
    check: 'ACCEPTANCE',
    isOk: false,
    message:
      '12 heartbeats were rejected since the last accepted one, the last at 2026-01-15T10:31:00Z: stale_sequence. Reset it.',
  })
  expect(acceptance(new Date('2026-01-15T10:32:00Z'))!.isOk).toBe(true)
  // Without a valid signature, it proves nothing about the node.
  const unsigned = { ...well, ...rejected, rejectionCount: 1, rejectionCode: 'signature_invalid' }
  expect(agentTrust(unsigned).at(-1)).toMatchObject({ isOk: null, message: expect.stringContaining('Another sender may have') })
})

test('formats key fingerprints like ssh-keygen', () => {
  expect(keyFingerprint(publicKey)).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/)
})
