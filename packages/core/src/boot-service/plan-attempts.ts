import { newId } from '../kernel/db/columns.ts'
import type { FetchRecord } from './fetch-record.ts'
import type { BootStage } from './stages.ts'
import type { BootAttempt, BootCause, BootFetchKind, bootStageTimes } from './tables.ts'

/** A boot script that is fetched again within this time, before anything else happened, belongs to the same boot. */
const SAME_BOOT_MS = 120_000
/** The operating system of a node runs when its agent sent a heartbeat within this time; the default interval is 30 seconds. */
const RUNNING_MS = 60_000

export type OpenAttempt = Pick<
  BootAttempt,
  'id' | 'nodeId' | 'cause' | 'mac' | 'profile' | 'profileVersion' | 'startedAt' | 'finishedAt'
> & {
  stages: Map<string, Date>
  /** Its token was sent. */
  hasToken: boolean
  /** When the last heartbeat of the node arrived. */
  heartbeatAt: Date | null
}

/** Assigns each fetch to an attempt: the last of its node, or a new one. */
export function planAttempts(fetches: readonly FetchRecord[], attempts: Map<string, OpenAttempt>, now: Date) {
  const begun: OpenAttempt[] = []
  const abandoned: string[] = []
  const named: OpenAttempt[] = []
  const stages: (typeof bootStageTimes.$inferInsert)[] = []
  const of = fetches.map((fetch) => {
    const current = attempts.get(fetch.nodeId)
    const attempt = current && belongsTo(fetch, current, now) ? current : newAttempt(fetch, current, now)
    if (attempt !== current) {
      if (current && !current.finishedAt) {
        if (begun.includes(current)) return current
        abandoned.push(current.id)
      }
      begun.push(attempt)
      attempts.set(fetch.nodeId, attempt)
    }
    const stage = STAGE_OF[fetch.kind]
    if (stage && !attempt.stages.has(stage)) {
      attempt.stages.set(stage, now)
      stages.push({ attemptId: attempt.id, stage, reachedAt: now })
      if (fetch.kind === 'BOOT_SCRIPT' && attempt === current) {
        Object.assign(attempt, { mac: fetch.mac ?? null, profile: fetch.profile, profileVersion: fetch.profileVersion })
        named.push(attempt)
      }
    }
    return attempt
  })
  return { begun, abandoned, named, stages, of }
}

const STAGE_OF: Partial<Record<BootFetchKind, BootStage>> = {
  BOOT_SCRIPT: 'BOOT_SCRIPT',
  META_DATA: 'CLOUD_INIT',
  USER_DATA: 'CLOUD_INIT',
  VENDOR_DATA: 'CLOUD_INIT',
  NETWORK_CONFIG: 'CLOUD_INIT',
  PHONE_HOME: 'PHONE_HOME',
}

function belongsTo({ kind, isRetry }: FetchRecord, attempt: OpenAttempt, now: Date): boolean {
  const { finishedAt, stages } = attempt
  if (kind === 'USER_DATA') return !hasEnded(attempt, now)
  if (kind !== 'BOOT_SCRIPT') return true
  if (finishedAt) return false
  const isBooted = [...stages.keys()].some((stage) => stage !== 'POWER_ON' && stage !== 'BOOT_SCRIPT')
  const fetchedAt = stages.get('BOOT_SCRIPT')
  return !isBooted && (!fetchedAt || isRetry === true || now.getTime() - fetchedAt.getTime() < SAME_BOOT_MS)
}

/**
 * User-data after the end of a boot begin another one: its boot script was lost with a process before it was recorded, or came from
 * elsewhere. The new attempt has no MAC, so it gets no token. While the node runs, another machine may be asking: the request stays in
 * the old boot, which refuses it with an alert.
 */
function hasEnded({ finishedAt, hasToken, stages, heartbeatAt }: OpenAttempt, now: Date): boolean {
  if (heartbeatAt && now.getTime() - heartbeatAt.getTime() < RUNNING_MS) return false
  return finishedAt !== null || (hasToken && stages.has('FIRST_CONTACT'))
}

function newAttempt(
  { nodeId, kind, mac, profile, profileVersion }: FetchRecord,
  last: OpenAttempt | undefined,
  now: Date,
): OpenAttempt {
  const cause: BootCause = kind === 'BOOT_SCRIPT' ? 'BOOT_SCRIPT' : 'CLOUD_INIT'
  const facts = { nodeId, cause, mac: mac ?? null, profile, profileVersion, startedAt: now, finishedAt: null }
  return { id: newId(), ...facts, stages: new Map(), hasToken: false, heartbeatAt: last?.heartbeatAt ?? null }
}
