import { expect, it, vi } from 'vitest'
import { rowsOf } from './pages.ts'

/** A connection of the numbers from 0, of which at most 500 are given at once. */
function numbers(count: number) {
  const asked: number[] = []
  const ask = async ({ first, after }: { first: number; after: string | null }) => {
    asked.push(first)
    const start = after === null ? 0 : Number(after) + 1
    const end = Math.min(count, start + first)
    const edges = Array.from({ length: end - start }, (_, i) => ({ node: start + i }))
    return { edges, pageInfo: { hasNextPage: end < count, endCursor: end > start ? String(end - 1) : null } }
  }
  return { asked, ask }
}

it('takes all pages, or as many rows as are wanted, and says when there are more', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    const all = numbers(1001)
    expect(await rowsOf(all.ask)).toEqual(Array.from({ length: 1001 }, (_, i) => i))
    expect(all.asked).toEqual([500, 500, 500])
    expect(await rowsOf(numbers(0).ask)).toEqual([])
    expect(await rowsOf(async () => null)).toEqual([])
    expect(await rowsOf(numbers(501).ask, 501)).toHaveLength(501)
    expect(said).not.toHaveBeenCalled()

    const some = numbers(1001)
    expect(await rowsOf(some.ask, 501)).toHaveLength(501)
    expect(some.asked).toEqual([500, 1])
    expect(said).toHaveBeenCalledExactlyOnceWith('These are the first 501; -n takes more.\n')
  } finally {
    said.mockRestore()
  }
})
