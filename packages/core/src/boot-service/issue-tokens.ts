import { createHash, randomBytes } from 'node:crypto'
import type { raiseAlerts } from '../alerts/index.ts'
import type { Ctx } from '../kernel/context.ts'
import type { FetchRecord, RecordedFetch } from './fetch-record.ts'
import type { OpenAttempt } from './plan-attempts.ts'

export const hashBootToken = (token: string): string => createHash('sha256').update(token).digest('hex')

export type IssuedToken = { id: string; name: string; attemptId: string; mac: string; hash: string; address: string | null }

/**
 * Issues the token of attempts that have none. Refuses it to a second request and to a node whose agent still sends heartbeats: one of
 * the two is another machine.
 */
export function issueTokens({ tenantId }: Ctx, fetches: readonly FetchRecord[], of: OpenAttempt[]) {
  const issued: IssuedToken[] = []
  const suspicious: Parameters<typeof raiseAlerts>[1][number][] = []
  const results = fetches.map(({ token: place, nodeId, nodeName, address }, i): RecordedFetch => {
    const attempt = of[i]!
    if (!place) return { attemptId: attempt.id, token: null, refusal: null }
    const reason = suspicionOf(attempt)
    if (reason) suspicious.push({ tenantId, nodeId, kind: 'boot_token_refused', evidence: { reason, address } })
    const refusal = reason ?? refusalOf(attempt, place.reason)
    if (refusal) return { attemptId: attempt.id, token: null, refusal }
    attempt.hasToken = true
    const token = `msb_${randomBytes(32).toString('base64url')}`
    const mac = attempt.mac!
    issued.push({ id: nodeId, name: nodeName, attemptId: attempt.id, mac, hash: hashBootToken(token), address })
    return { attemptId: attempt.id, token, refusal: null }
  })
  return { results, issued, suspicious }
}

/** Why another machine may be asking. */
function suspicionOf({ hasToken, heartbeatAt, startedAt }: OpenAttempt): string | null {
  if (hasToken) return 'the token of this boot was already sent'
  return heartbeatAt && heartbeatAt > startedAt ? 'the agent of the node still sends heartbeats' : null
}

function refusalOf({ mac, finishedAt }: OpenAttempt, reason: string | null): string | null {
  if (reason) return reason
  if (!mac) return 'the boot script was not fetched with a MAC of the node'
  return finishedAt ? 'the boot has ended' : null
}
