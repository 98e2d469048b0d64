import { createHash } from 'node:crypto'
import type { AgentHeartbeat } from '../heartbeats/tables.ts'
import type { Agent, AgentKey } from './tables.ts'

/** SHA-256 of a public key, in the format of `ssh-keygen -l`. @param publicKey in base64 */
export const keyFingerprint = (publicKey: string): string =>
  `SHA256:${createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('base64').replace(/=+$/, '')}`

/** Clocks that are synchronized over the network differ by less. */
const MAX_SKEW_MS = 5000

export type AgentVerdict = {
  check: 'KEY' | 'SIGNATURE' | 'HARDWARE' | 'CLOCK' | 'SEQUENCE' | 'ACCEPTANCE'
  /** Null when the check cannot be decided yet. */
  isOk: boolean | null
  message: string
}

type AgentEvidence = Pick<
  Agent,
  'fingerprint' | 'offeredFingerprint' | 'rejectedAt' | 'rejectionCode' | 'rejectionMessage' | 'rejectionCount'
> & {
  key: Pick<AgentKey, 'status' | 'publicKey'> | null
  isKeyWaiting: boolean
  /** Another machine sends heartbeats with the same key. */
  isKeyShared: boolean
  heartbeat: Pick<AgentHeartbeat, 'skewMs' | 'accepted' | 'missed' | 'receivedAt'> | null
}

/** Results of the trust checks of an agent. */
export function agentTrust({ fingerprint, offeredFingerprint, heartbeat, ...rest }: AgentEvidence): AgentVerdict[] {
  const accepted = heartbeat?.accepted ?? 0
  return [
    keyVerdict(rest),
    accepted > 0
      ? { check: 'SIGNATURE', isOk: true, message: `All ${accepted} accepted heartbeats are signed with the key.` }
      : { check: 'SIGNATURE', isOk: null, message: NO_HEARTBEAT },
    hardwareVerdict(fingerprint, offeredFingerprint),
    clockVerdict(heartbeat?.skewMs ?? null),
    sequenceVerdict(accepted, heartbeat?.missed ?? 0),
    acceptanceVerdict(rest, heartbeat?.receivedAt ?? null),
  ]
}

const NO_HEARTBEAT = 'No heartbeat accepted yet.'

function keyVerdict({
  key,
  isKeyWaiting,
  isKeyShared,
}: Pick<AgentEvidence, 'key' | 'isKeyWaiting' | 'isKeyShared'>): AgentVerdict {
  const check = 'KEY'
  if (isKeyShared)
    return {
      check,
      isOk: false,
      message:
        'Another machine sends heartbeats with the same key; the alert shows its boot ID. Stop the agent there and enroll it with its own key. If you do not know the machine, revoke the key and enroll this node again.',
    }
  if (isKeyWaiting)
    return {
      check,
      isOk: false,
      message: 'The agent presented a key that is not allowed. Compare it on the node, then approve or revoke it.',
    }
  if (!key) return { check, isOk: null, message: 'The agent has no key. Allow one, or create an enrollment token.' }
  const fingerprint = keyFingerprint(key.publicKey)
  if (key.status === 'ALLOWED') return { check, isOk: true, message: `The key ${fingerprint} is allowed.` }
  return { check, isOk: false, message: `The key ${fingerprint} is revoked. Enroll the node again.` }
}

function hardwareVerdict(approved: string | null, offered: string | null): AgentVerdict {
  const check = 'HARDWARE'
  if (offered)
    return {
      check,
      isOk: false,
      message: 'The agent reports the hardware fingerprint of another machine. Approve the change if the machine was replaced.',
    }
  if (approved) return { check, isOk: true, message: 'The agent runs on the approved hardware.' }
  return { check, isOk: null, message: 'No signed message of the agent has a hardware fingerprint.' }
}

function clockVerdict(skewMs: number | null): AgentVerdict {
  const check = 'CLOCK'
  if (skewMs === null) return { check, isOk: null, message: NO_HEARTBEAT }
  const skew = `The clock is ${(Math.abs(skewMs) / 1000).toFixed(1)} s ${skewMs < 0 ? 'behind' : 'ahead'}`
  return Math.abs(skewMs) <= MAX_SKEW_MS
    ? { check, isOk: true, message: `${skew}.` }
    : {
        check,
        isOk: false,
        message: `${skew}. Heartbeats with a skew of more than 5 minutes are rejected. Check the time service of the node.`,
      }
}

function sequenceVerdict(accepted: number, missed: number): AgentVerdict {
  const check = 'SEQUENCE'
  if (accepted === 0) return { check, isOk: null, message: NO_HEARTBEAT }
  return missed === 0
    ? { check, isOk: true, message: 'No heartbeat is missing.' }
    : {
        check,
        isOk: false,
        message: `${missed} of ${accepted + missed} heartbeats are missing. Check the network of the node.`,
      }
}

function acceptanceVerdict(
  {
    rejectedAt,
    rejectionCode,
    rejectionMessage,
    rejectionCount,
  }: Pick<AgentEvidence, 'rejectedAt' | 'rejectionCode' | 'rejectionMessage' | 'rejectionCount'>,
  receivedAt: Date | null,
): AgentVerdict {
  const check = 'ACCEPTANCE'
  if (!rejectedAt || (receivedAt && receivedAt >= rejectedAt))
    return receivedAt
      ? { check, isOk: true, message: 'No heartbeat was rejected since the last accepted one.' }
      : { check, isOk: null, message: NO_HEARTBEAT }
  // Anybody can send a heartbeat without a valid signature, so it proves nothing about the node.
  const isUnsigned = rejectionCode === 'signature_invalid' || rejectionCode === 'cluster_mismatch'
  const what = rejectionCount === 1 ? 'One heartbeat was rejected' : `${rejectionCount} heartbeats were rejected`
  const since = `${what} since the last accepted one, the last at ${rejectedAt.toISOString().slice(0, 19)}Z`
  const doubt = isUnsigned ? ' Another sender may have used the name of the node.' : ''
  return { check, isOk: isUnsigned ? null : false, message: `${since}: ${rejectionCode}. ${rejectionMessage}${doubt}` }
}
