import type { Db } from '@muster/core/db'
import { vi } from 'vitest'

/** Who asks is looked up again every few seconds: that comes in between on a slow machine, and is nobody's statement. */
const isLookUp = (call: unknown[]) => JSON.stringify(call[0]).includes('api_tokens')

/** What `work` gives, and how many statements it took. */
export async function countStatements<T>(db: Db, work: () => Promise<T>): Promise<{ result: T; count: number }> {
  const query = vi.spyOn(db.$client, 'query')
  try {
    const result = await work()
    return { result, count: query.mock.calls.filter((call) => !isLookUp(call)).length }
  } finally {
    query.mockRestore()
  }
}
