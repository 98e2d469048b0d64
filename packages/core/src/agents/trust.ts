import { createHash } from 'node:crypto'
import type { AgentHeartbeat } from '../heartbeats/tables.ts'
import type { Agent, AgentKey } from './tables.ts'

/** How a public key is shown to people: SHA-256 over its 32 bytes, as ssh-keygen writes such things. @param publicKey in base64 */
export const keyFingerprint = (publicKey: string): string =>
  `SHA256:${createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('base64').replace(/=+$/, '')}`

/** An honest clock that asks the time from a server is closer than this, in ms. */
const TOLERABLE_SKEW_MS = 5000

export type AgentVerdict = {
  check: 'KEY' | 'SIGNATURE' | 'HARDWARE' | 'CLOCK' | 'SEQUENCE'
  /** Null: there is nothing to judge by yet. */
  isOk: boolean | null
  text: string
}

type Judged = Pick<Agent, 'fingerprint' | 'offeredFingerprint'> & {
  key: Pick<AgentKey, 'status' | 'publicKey'> | null
  isKeyWaiting: boolean
  /** Another machine beats with it at the same time. */
  isKeyShared: boolean
  beat: Pick<AgentHeartbeat, 'skewMs' | 'accepted' | 'missed'> | null
}

/** Why to believe an agent, point by point, for the person who wants to know. */
export function agentTrust({ fingerprint, offeredFingerprint, beat, ...keys }: Judged): AgentVerdict[] {
  const accepted = beat?.accepted ?? 0
  return [
    keyVerdict(keys),
    accepted > 0
      ? { check: 'SIGNATURE', isOk: true, text: `All ${accepted} heartbeats that were accepted bear the signature of its key.` }
      : { check: 'SIGNATURE', isOk: null, text: 'No heartbeat was accepted yet.' },
    hardwareVerdict(fingerprint, offeredFingerprint),
    clockVerdict(beat?.skewMs ?? null),
    sequenceVerdict(accepted, beat?.missed ?? 0),
  ]
}

function keyVerdict({ key, isKeyWaiting, isKeyShared }: Pick<Judged, 'key' | 'isKeyWaiting' | 'isKeyShared'>): AgentVerdict {
  const check = 'KEY'
  if (isKeyShared)
    return {
      check,
      isOk: false,
      text: 'Another machine beats with its key, too; its alert says which. Stop that one and enroll it with a key of its own; if you do not know it, revoke the key and enroll this node anew.',
    }
  if (isKeyWaiting)
    return { check, isOk: false, text: 'An agent came with a key that is not allowed; compare it, then approve or revoke it.' }
  if (!key) return { check, isOk: null, text: 'It has no key; allow one, or make an enrollment token.' }
  if (key.status === 'ALLOWED') return { check, isOk: true, text: `Its key ${keyFingerprint(key.publicKey)} is allowed.` }
  return { check, isOk: false, text: `Its key ${keyFingerprint(key.publicKey)} is revoked; enroll it anew.` }
}

function hardwareVerdict(approved: string | null, offered: string | null): AgentVerdict {
  const check = 'HARDWARE'
  if (offered)
    return {
      check,
      isOk: false,
      text: 'It shows the fingerprint of another machine; approve the change if the machine was replaced.',
    }
  if (approved) return { check, isOk: true, text: 'It runs on the machine that was approved.' }
  return { check, isOk: null, text: 'It tells no fingerprint of its hardware.' }
}

function clockVerdict(skewMs: number | null): AgentVerdict {
  const check = 'CLOCK'
  if (skewMs === null) return { check, isOk: null, text: 'Its clock is not known yet.' }
  const off = `${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs < 0 ? 'behind' : 'ahead of'} ours`
  return Math.abs(skewMs) <= TOLERABLE_SKEW_MS
    ? { check, isOk: true, text: `Its clock is ${off}.` }
    : {
        check,
        isOk: false,
        text: `Its clock is ${off}; beyond five minutes its heartbeats are refused. Look at its time service.`,
      }
}

function sequenceVerdict(accepted: number, missed: number): AgentVerdict {
  const check = 'SEQUENCE'
  if (accepted === 0) return { check, isOk: null, text: 'No heartbeat was accepted yet.' }
  return missed === 0
    ? { check, isOk: true, text: 'No heartbeat is missing.' }
    : { check, isOk: false, text: `${missed} of ${accepted + missed} heartbeats never came; look at its network.` }
}
