import type { PoolDb } from '@muster/core/db'
import { vi } from 'vitest'

/** Who asks is looked up again every few seconds, and that heartbeats can arrive is said every second: nobody's statements. */
const isOfItself = (call: unknown[]) => /api_tokens|ingest_liveness/.test(JSON.stringify(call[0]))

/** What `work` gives, and how many statements it took. */
export async function countStatements<T>(db: PoolDb, work: () => Promise<T>): Promise<{ result: T; count: number }> {
  const query = vi.spyOn(db.$client, 'query')
  try {
    const result = await work()
    return { result, count: query.mock.calls.filter((call) => !isOfItself(call)).length }
  } finally {
    query.mockRestore()
  }
}
