import { setImmediate, setTimeout } from 'node:timers/promises'
import { authorize, type Ctx } from '../kernel/context.ts'
import { isTransientDbError } from '../kernel/retry-transient.ts'
import type { FetchRecord, RecordedFetch } from './fetch-record.ts'
import { bootPermissions } from './permissions.ts'
import { recordBootFetches } from './record-boot-fetches.ts'

/** Fetches per transaction. */
const MAX_PER_TRANSACTION = 500
/** Fetches that wait; further ones are answered after they are recorded. */
const MAX_WAITING = 5000
/** How long a fetch waits for others. */
const COLLECT_MS = 20
/** Pause while the database is away. */
const RETRY_MS = 1000
/** How long a stop waits for the database. */
const FLUSH_MS = 5000

/** Records fetches in their order. */
export type FetchRecorder = {
  /** @returns the result of a boot script, and of content with a place for a token; else null, before the fetch is recorded */
  record(fetch: FetchRecord): Promise<RecordedFetch | null>
  /** Waits until all fetches are recorded; for a database that is away, some seconds. */
  flush(): Promise<void>
}

type Waiting = {
  fetch: FetchRecord
  resolve: (result: RecordedFetch) => void
  reject: (error: unknown) => void
  needsResult: boolean
}

/**
 * Records the fetches of a tenant in groups, because thousands of machines boot at the same time. A boot script is sent after its fetch is
 * recorded, because the fetch begins the boot that gets the token. Other content without a place for a token is sent before: a process that
 * is killed loses the last milliseconds of the log. Such fetches wait while the database is away; the others fail, and machines ask again.
 */
export function createFetchRecorder(ctx: Ctx): FetchRecorder {
  authorize(ctx, bootPermissions.serve)
  const waiting: Waiting[] = []
  let working: Promise<void> | null = null
  let isAway = false
  let isUrgent = false
  let wake = () => {}

  /** Repeats a failed group one by one, so that only bad fetches are lost. */
  const recordGroup = async (group: Waiting[]): Promise<void> => {
    try {
      const results = await recordBootFetches(
        ctx,
        group.map(({ fetch }) => fetch),
      )
      isAway = false
      for (const [i, { resolve }] of group.entries()) resolve(results[i]!)
    } catch (error) {
      if (isTransientDbError(error)) {
        isAway = true
        const [failed, kept] = [group.filter(({ needsResult }) => needsResult), group.filter(({ needsResult }) => !needsResult)]
        for (const { reject } of failed) reject(error)
        waiting.unshift(...kept)
      } else if (group.length === 1) group[0]!.reject(error)
      else for (const one of group) await recordGroup([one])
    }
  }
  const work = async () => {
    // Fetches of the same turn of the event loop form one group.
    await setImmediate()
    while (waiting.length > 0) {
      if (isAway) await setTimeout(RETRY_MS, undefined, { ref: false })
      else if (!isUrgent && waiting.length < MAX_PER_TRANSACTION)
        await Promise.race([setTimeout(COLLECT_MS), new Promise<void>((resolve) => (wake = resolve))])
      isUrgent = false
      await recordGroup(waiting.splice(0, MAX_PER_TRANSACTION))
    }
    working = null
  }
  return {
    record(fetch) {
      const isFull = waiting.length >= MAX_WAITING
      const needsResult = fetch.kind === 'BOOT_SCRIPT' || fetch.token !== undefined || isFull
      const recorded = new Promise<RecordedFetch>((resolve, reject) => waiting.push({ fetch, resolve, reject, needsResult }))
      isUrgent ||= needsResult
      if (needsResult) wake()
      working ??= work()
      if (needsResult) return recorded
      recorded.catch((error: unknown) => ctx.log.error({ err: error, node: fetch.nodeName }, 'boot fetch was not recorded'))
      return Promise.resolve(null)
    },
    async flush() {
      const until = Date.now() + FLUSH_MS
      while (working && (!isAway || Date.now() < until)) {
        isUrgent = true
        wake()
        await Promise.race([working, setTimeout(COLLECT_MS)])
      }
    },
  }
}
