import type { PoolDb } from '@muster/core/db'
import { vi } from 'vitest'

/** Periodic statements that no operation causes: caller lookups and ingest liveness. */
const isPeriodic = (call: unknown[]) => /api_tokens|ingest_liveness/.test(JSON.stringify(call[0]))

/** Runs `work` and counts its SQL statements. */
export async function countStatements<T>(db: PoolDb, work: () => Promise<T>): Promise<{ result: T; count: number }> {
  const query = vi.spyOn(db.$client, 'query')
  try {
    const result = await work()
    return { result, count: query.mock.calls.filter((call) => !isPeriodic(call)).length }
  } finally {
    query.mockRestore()
  }
}
