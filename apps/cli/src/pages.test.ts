import { expect, it, vi } from 'vitest'
import { fetchAll } from './pages.ts'

/** A connection of the numbers from 0 with pages of at most 500. */
function numbers(count: number) {
  const requested: number[] = []
  const fetchPage = async ({ first, after }: { first: number; after: string | null }) => {
    requested.push(first)
    const start = after === null ? 0 : Number(after) + 1
    const end = Math.min(count, start + first)
    const edges = Array.from({ length: end - start }, (_, i) => ({ node: start + i }))
    return { edges, pageInfo: { hasNextPage: end < count, endCursor: end > start ? String(end - 1) : null } }
  }
  return { requested, fetchPage }
}

it('fetches all pages, or rows up to the limit with a note when there are more', async () => {
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const all = numbers(1001)
    expect(await fetchAll(all.fetchPage)).toEqual(Array.from({ length: 1001 }, (_, i) => i))
    expect(all.requested).toEqual([500, 500, 500])
    expect(await fetchAll(numbers(0).fetchPage)).toEqual([])
    expect(await fetchAll(async () => null)).toEqual([])
    expect(await fetchAll(numbers(501).fetchPage, 501)).toHaveLength(501)
    expect(stderr).not.toHaveBeenCalled()

    const some = numbers(1001)
    expect(await fetchAll(some.fetchPage, 501)).toHaveLength(501)
    expect(some.requested).toEqual([500, 1])
    expect(stderr).toHaveBeenCalledExactlyOnceWith('Only the first 501 are shown. Use -n for more.\n')
  } finally {
    stderr.mockRestore()
  }
})
