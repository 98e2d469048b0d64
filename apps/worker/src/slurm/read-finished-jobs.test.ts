import { slurmJobRecord } from '@muster/core/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readFinishedJobs } from './read-finished-jobs.ts'
import { OutputTooLarge, QueryFailure } from './run-query.ts'

type Ended = { id: number; end: number }
type Search = Parameters<typeof readFinishedJobs>[1]

const UNTIL = 2_000_000
/** More than the most jobs of a test, in pages of one. */
const MAX_PAGES = 100
const job = ({ id, end }: Ended) => slurmJobRecord(id, { endAt: new Date(end * 1000) })
/** A cluster that prints its jobs by ID, also those at the next second, and fails with more than `most`. */
function cluster(jobs: Ended[], most = Number.POSITIVE_INFINITY) {
  const windows: [number, number][] = []
  const read = async (since: number, until: number) => {
    windows.push([since, until])
    const found = jobs.filter(({ end }) => end >= since && end <= until + 1).sort((a, b) => a.id - b.id)
    if (found.length > most) throw new OutputTooLarge('too large')
    return found.map(job)
  }
  return { read, windows }
}
async function readAll(read: ReturnType<typeof cluster>['read'], search: Omit<Search, 'after'>): Promise<Ended[]> {
  const all: Ended[] = []
  let after: Search['after'] = null
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { jobs, next } = await readFinishedJobs(read, { ...search, after }, () => false)
    expect(jobs.length).toBeLessThanOrEqual(search.limit)
    all.push(...jobs.map(({ id, endAt }) => ({ id, end: endAt!.getTime() / 1000 })))
    if (!next) return all
    after = next
  }
  expect.fail(`no end after ${MAX_PAGES} pages`)
}

test('reads every job of the period once, newest first, in pages of any size', async () => {
  const jobs = fc.uniqueArray(
    fc.record({
      id: fc.nat(500),
      end: fc.oneof(fc.integer({ min: UNTIL - 9000, max: UNTIL }), fc.integer({ min: 1, max: UNTIL })),
    }),
    { selector: ({ id }) => id, maxLength: 60 },
  )
  await fc.assert(
    fc.asyncProperty(jobs, fc.integer({ min: 1, max: 20 }), fc.nat(UNTIL), async (jobs, limit, sinceSeconds) => {
      const expected = jobs.filter(({ end }) => end >= sinceSeconds).sort((a, b) => b.end - a.end || b.id - a.id)
      // A second with more jobs than fit cannot be read.
      const densest = Math.max(1, ...jobs.map(({ end }) => jobs.filter((one) => one.end === end || one.end === end + 1).length))
      for (const most of [Number.POSITIVE_INFINITY, densest])
        expect(await readAll(cluster(jobs, most).read, { sinceSeconds, untilSeconds: UNTIL, limit })).toEqual(expected)
    }),
    { numRuns: 40 },
  )
})

test('reads a month without jobs in few commands', async () => {
  const { read, windows } = cluster([])
  const sinceSeconds = UNTIL - 30 * 86_400
  expect(await readFinishedJobs(read, { sinceSeconds, untilSeconds: UNTIL, after: null, limit: 10 }, () => false)).toEqual({
    ...{ jobs: [], searchedSinceSeconds: sinceSeconds, next: null },
  })
  expect(windows.length).toBeLessThanOrEqual(6)
})

test('stops at the time limit and returns the cursor to continue from', async () => {
  const { read } = cluster([{ id: 1, end: 5 }])
  const { next, ...rest } = await readFinishedJobs(
    read,
    { sinceSeconds: 0, untilSeconds: UNTIL, after: null, limit: 10 },
    () => true,
  )
  expect({ next, ...rest }).toEqual({
    jobs: [],
    searchedSinceSeconds: UNTIL - 3599,
    next: { endSeconds: UNTIL - 3600, id: null },
  })
})

test('returns what it has when a later command fails; fails when it has nothing', async () => {
  const { read } = cluster([{ id: 1, end: UNTIL - 5 }])
  const search = { sinceSeconds: 0, untilSeconds: UNTIL, after: null, limit: 10 }
  let calls = 0
  const failing = async (since: number, until: number) => {
    if (calls++ === 1) throw new QueryFailure('no answer')
    return read(since, until)
  }
  expect(await readFinishedJobs(failing, search, () => false)).toMatchObject({
    jobs: [{ id: 1 }],
    next: { endSeconds: UNTIL - 3600 },
  })
  calls = 1
  await expect(readFinishedJobs(failing, search, () => false)).rejects.toThrow('no answer')
})

test('fails when one second has too many jobs', async () => {
  const { read } = cluster(
    [1, 2, 3].map((id) => ({ id, end: UNTIL })),
    2,
  )
  const search = { sinceSeconds: 0, untilSeconds: UNTIL, after: null, limit: 10 }
  await expect(readFinishedJobs(read, search, () => false)).rejects.toThrow(OutputTooLarge)
})

test('tries no narrower window when it is out of time', async () => {
  const { read, windows } = cluster(
    [1, 2, 3].map((id) => ({ id, end: UNTIL - id * 1000 })),
    2,
  )
  const search = { sinceSeconds: 0, untilSeconds: UNTIL, after: null, limit: 10 }
  await expect(readFinishedJobs(read, search, () => true)).rejects.toThrow(OutputTooLarge)
  expect(windows).toHaveLength(1)
})
