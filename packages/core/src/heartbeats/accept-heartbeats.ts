import type { Heartbeat } from '@muster/protocol'
import type { Actor, Runtime } from '../kernel/context.ts'
import { authorize } from '../kernel/context.ts'
import { isSerializationFailure, isTransientDbError } from '../kernel/retry-transient.ts'
import { heartbeatColumns } from './heartbeat-columns.ts'
import { heartbeatPermissions } from './permissions.ts'
import { type HeartbeatFinding, recordHeartbeatFindings } from './record-heartbeat-findings.ts'
import { ACCEPT, EXPLAIN } from './store-heartbeats.ts'

/** A heartbeat whose signature was checked. */
export type SignedHeartbeat = {
  nodeId: string
  /** The key that the signature was checked with. */
  keyId: string
  bootEpoch: number
  sequence: number
  /** The agent's time, in ms since 1970. */
  time: number
  /** What it says, in its bounds; null: it is out of them and cannot be accepted, but may have to be refused for another reason. */
  heartbeat: Heartbeat | null
  /** The JSON that was signed, kept as it is. */
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
  /** Not stored, and not judged either: it may come again. */
  | 'busy'

/**
 * Store heartbeats, of all tenants, in one statement: each only if its key is still allowed, its time within five minutes of the
 * database's, and (boot epoch, sequence) greater than those of the last one, however many processes try the same at once. What a
 * person should know of it (gaps, odd intervals, a wrong clock, lost devices) and the state of those that are heard again follow
 * when it is committed.
 * @param now in tests, the time that holds in place of the database's
 * @returns a verdict for each, in their order
 * @throws what the database says, if none was judged: once one is stored, asking again would find it there
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
    // The connection may have ended after the COMMIT: then what is there now was stored by the first try.
    isSecondTry = !isSerializationFailure(error)
    return accept()
  })
  const [stored] = rows
  for (const place of stored!.places?.split(',') ?? []) verdicts.set(beats[Number(place) - 1]!, 'accepted')
  const notable = stored!.notable ?? []
  const refused = beats.filter((beat) => !verdicts.has(beat))
  try {
    if (refused.length === 0) return
    const explained = await pool.query<{
      place: number
      verdict: HeartbeatVerdict
      isThere: boolean | null
      notable: HeartbeatFinding | null
    }>({
      ...EXPLAIN,
      values: columnsOf(refused, now),
    })
    for (const row of explained.rows) {
      verdicts.set(refused[row.place - 1]!, isSecondTry && row.isThere ? 'accepted' : row.verdict)
      if (row.notable) notable.push(row.notable)
    }
  } finally {
    if (notable.length > 0) await recordHeartbeatFindings(ctx, notable, now)
  }
}

/** Prepared statements need the pool itself. */
type HeartbeatCtx = Pick<Runtime, 'db' | 'notify' | 'log'> & { actor: Actor }

/**
 * A statement can meet a row once: a second heartbeat of a node waits for the next. In each, rows are met in one order
 * everywhere, unless
 * the planner joins otherwise: then of two that wait for each other Postgres undoes one, and it is done again.
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

/** One array for each column, as Postgres itself writes it: quicker than to have the driver look at every value. */
function columnsOf(beats: SignedHeartbeat[], now: Date | undefined): (string | Buffer | null)[] {
  const said = beats.map(({ heartbeat }) => heartbeat && heartbeatColumns(heartbeat))
  return [
    now?.toISOString() ?? null,
    plain(beats.map((beat) => beat.nodeId)),
    plain(beats.map((beat) => beat.keyId)),
    plain(beats.map((beat) => beat.bootEpoch)),
    plain(beats.map((beat) => beat.sequence)),
    plain(beats.map((beat) => beat.time)),
    plain(said.map((each) => each !== null)),
    texts(said.map((each) => each?.health)),
    texts(said.map((each) => each?.slurmState)),
    plain(said.map((each) => each?.reportedDrain)),
    plain(said.map((each) => each?.runningJobs)),
    plain(said.map((each) => each?.cpuPercent)),
    plain(said.map((each) => each?.memoryPercent)),
    plain(said.map((each) => each?.gpusTotal)),
    plain(said.map((each) => each?.gpusAvailable)),
    plain(said.map((each) => each?.lostAccelerators)),
    texts(beats.map(({ heartbeat }) => heartbeat?.hardware_fingerprint)),
    texts(beats.map(({ heartbeat }) => heartbeat?.agent_version)),
    texts(beats.map((beat) => beat.heartbeat && beat.signed)),
    plain(beats.map(({ heartbeat }) => (heartbeat?.measured_at ? Date.parse(heartbeat.measured_at) : null))),
  ]
}

const plain = (values: (string | number | boolean | null | undefined)[]): string =>
  `{${values.map((each) => each ?? 'null').join()}}`

/** In binary, so that nothing has to be escaped and looked at sign by sign: whole heartbeats are among them. */
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
