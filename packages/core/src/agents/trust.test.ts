import { expect, test } from 'vitest'
import { agentTrust, keyFingerprint } from './trust.ts'

const publicKey = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
const key = { status: 'ALLOWED' as const, publicKey }
const heartbeat = { skewMs: 40, accepted: 10, missed: 0 }
const well = { key, isKeyWaiting: false, isKeyShared: false, fingerprint: 'f', offeredFingerprint: null, heartbeat }
const verdicts = (agent: Parameters<typeof agentTrust>[0]) => agentTrust(agent).map(({ isOk }) => isOk)

test('each trust check can fail independently', () => {
  expect(verdicts(well)).toEqual([true, true, true, true, true])
  expect(verdicts({ ...well, isKeyWaiting: true })).toEqual([false, true, true, true, true])
  expect(verdicts({ ...well, isKeyShared: true })).toEqual([false, true, true, true, true])
  expect(verdicts({ ...well, key: { ...key, status: 'REVOKED' } })).toEqual([false, true, true, true, true])
  expect(verdicts({ ...well, offeredFingerprint: 'g' })).toEqual([true, true, false, true, true])
  expect(verdicts({ ...well, heartbeat: { ...heartbeat, skewMs: -6000 } })).toEqual([true, true, true, false, true])
  expect(verdicts({ ...well, heartbeat: { ...heartbeat, missed: 1 } })).toEqual([true, true, true, true, false])
  expect(verdicts({ ...well, key: null, fingerprint: null, heartbeat: null })).toEqual([null, null, null, null, null])
})

test('formats key fingerprints like ssh-keygen', () => {
  expect(keyFingerprint(publicKey)).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/)
})
