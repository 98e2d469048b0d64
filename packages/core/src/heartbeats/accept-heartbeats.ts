import type { Heartbeat } from '@muster/protocol'
import type { Actor, Runtime } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { isSerializationFailure, isTransientDbError } from '../kernel/retry-transient.ts'
import { heartbeatColumns } from './heartbeat-columns.ts'
import { heartbeatPermissions } from './permissions.ts'
import { type HeartbeatFinding, recordHeartbeatFindings } from './record-heartbeat-findings.ts'
import { ACCEPT, EXPLAIN } from './store-heartbeats.ts'

/** A heartbeat with a verified signature. */
export type SignedHeartbeat = {
  nodeId: string
  /** The key that the signature was checked with. */
  keyId: string
  bootEpoch: number
  sequence: number
  /** The agent's time, in ms since 1970. */
  time: number
  /** Null when a value is out of its bounds. Such a heartbeat is rejected, possibly for another reason. */
  heartbeat: Heartbeat | null
  /** The signed JSON, unchanged. */
  signed: Uint8Array
}

export type HeartbeatVerdict =
  | 'accepted'
  | 'node_not_registered'
  | 'signature_invalid'
  | 'timestamp_out_of_range'
  | 'stale_sequence'
  | 'invalid_request'
  | 'approval_pending'
  /** Neither stored nor rejected; the agent may send it again. */
  | 'busy'

/**
 * Stores heartbeats of all tenants in one statement. It accepts a heartbeat with an allowed key, a time within five minutes of the
 * database's, and a greater (boot epoch, sequence) than the last one. Concurrent calls are safe. After the commit it records findings
 * (gaps, irregular intervals, clock skew, lost devices) and makes returning agents ACTIVE.
 * @param now replaces the database's time in tests
 * @returns one verdict per heartbeat, in their order
 * @throws the database's error when no heartbeat has a verdict; otherwise a retry would reject stored heartbeats as repeated
 */
export async function acceptHeartbeats(ctx: HeartbeatCtx, beats: SignedHeartbeat[], now?: Date): Promise<HeartbeatVerdict[]> {
  authorize(ctx, heartbeatPermissions.accept)
  const verdicts = new Map<SignedHeartbeat, HeartbeatVerdict>()
  try {
    for (const round of rounds(beats)) await storeRound(ctx, round, verdicts, now)
  } catch (error) {
    if (verdicts.size === 0) throw error
    ctx.log.warn({ err: error, heartbeats: beats.length - verdicts.size }, 'could not judge all heartbeats of a batch')
  }
  return beats.map((beat) => verdicts.get(beat) ?? 'busy')
}

async function storeRound(
  ctx: HeartbeatCtx,
  beats: SignedHeartbeat[],
  verdicts: Map<SignedHeartbeat, HeartbeatVerdict>,
  now: Date | undefined,
): Promise<void> {
  const pool = ctx.db.$client
  const accept = () =>
    pool.query<{ places: string | null; notable: HeartbeatFinding[] | null }>({ ...ACCEPT, values: columnsOf(beats, now) })
  let isSecondTry = false
  const { rows } = await accept().catch((error) => {
    if (!isTransientDbError(error)) throw error
    // The connection may have ended after the commit; then the first attempt stored the heartbeats.
    isSecondTry = !isSerializationFailure(error)
    return accept()
  })
  const [stored] = rows
  for (const place of stored!.places?.split(',') ?? []) verdicts.set(beats[Number(place) - 1]!, 'accepted')
  const notable = stored!.notable ?? []
  const rejected = beats.filter((beat) => !verdicts.has(beat))
  try {
    if (rejected.length === 0) return
    const explained = await pool.query<{
      place: number
      verdict: HeartbeatVerdict
      isThere: boolean | null
      notable: HeartbeatFinding | null
    }>({
      ...EXPLAIN,
      values: columnsOf(rejected, now),
    })
    for (const row of explained.rows) {
      verdicts.set(rejected[row.place - 1]!, isSecondTry && row.isThere ? 'accepted' : row.verdict)
      if (row.notable) notable.push(row.notable)
    }
  } finally {
    if (notable.length > 0) await recordHeartbeatFindings(ctx, notable, now)
  }
}

/** Prepared statements need the pool. */
type HeartbeatCtx = Pick<Runtime, 'db' | 'notify' | 'log'> & { actor: Actor }

/**
 * Splits heartbeats into rounds with at most one per node, because a statement can update a row only once. All processes sort by node, so
 * that they rarely deadlock; Postgres may still lock rows in another order, and a deadlocked statement is repeated.
 */
function rounds(beats: SignedHeartbeat[]): SignedHeartbeat[][] {
  const all: Map<string, SignedHeartbeat>[] = []
  for (const beat of beats) {
    let round = all.findLastIndex((each) => each.has(beat.nodeId)) + 1
    if (!all[round]) round = all.push(new Map()) - 1
    all[round]!.set(beat.nodeId, beat)
  }
  return all.map((round) => [...round.values()].sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)))
}

/** Encodes one array per column in Postgres' own format, which is faster than the driver's encoding of each value. */
function columnsOf(beats: SignedHeartbeat[], now: Date | undefined): (string | Buffer | null)[] {
  const columns = beats.map(({ heartbeat }) => heartbeat && heartbeatColumns(heartbeat))
  return [
    now?.toISOString() ?? null,
    plain(beats.map((beat) => beat.nodeId)),
    plain(beats.map((beat) => beat.keyId)),
    plain(beats.map((beat) => beat.bootEpoch)),
    plain(beats.map((beat) => beat.sequence)),
    plain(beats.map((beat) => beat.time)),
    plain(columns.map((each) => each !== null)),
    texts(columns.map((each) => each?.health)),
    texts(columns.map((each) => each?.slurmState)),
    plain(columns.map((each) => each?.reportedDrain)),
    plain(columns.map((each) => each?.runningJobs)),
    plain(columns.map((each) => each?.cpuPercent)),
    plain(columns.map((each) => each?.memoryPercent)),
    plain(columns.map((each) => each?.gpusTotal)),
    plain(columns.map((each) => each?.gpusAvailable)),
    plain(columns.map((each) => each?.lostAccelerators)),
    texts(beats.map(({ heartbeat }) => heartbeat?.hardware_fingerprint)),
    texts(beats.map(({ heartbeat }) => heartbeat?.agent_version)),
    texts(beats.map((beat) => beat.heartbeat && beat.signed)),
    plain(beats.map(({ heartbeat }) => (heartbeat?.measured_at ? Date.parse(heartbeat.measured_at) : null))),
  ]
}

const plain = (values: (string | number | boolean | null | undefined)[]): string =>
  `{${values.map((each) => each ?? 'null').join()}}`

/** Encodes a text array in binary format, which needs no escaping: the texts include complete heartbeats. */
function texts(values: (string | Uint8Array | null | undefined)[]): Buffer {
  const lengths = values.map((each) => (each == null ? -1 : Buffer.byteLength(each)))
  const array = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + 4 + Math.max(length, 0), 20))
  let at = 0
  const dimensions = [1, 1, TEXT_OID, values.length, 1]
  for (const each of dimensions) at = array.writeInt32BE(each, at)
  for (const [i, each] of values.entries()) {
    at = array.writeInt32BE(lengths[i]!, at)
    if (typeof each === 'string') at += array.write(each, at)
    else if (each) at += Buffer.from(each.buffer, each.byteOffset, each.length).copy(array, at)
  }
  return array
}
const TEXT_OID = 25
