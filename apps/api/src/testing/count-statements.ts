import type { TestRuntime } from '@muster/core/testing'
import { vi } from 'vitest'

/** Periodic statements that no operation causes: caller lookups and ingest liveness. */
const isPeriodic = (call: unknown[]) => /api_tokens|ingest_liveness/.test(JSON.stringify(call[0]))

/** Runs `work` and counts its SQL statements, of the application role and of the system role. */
export async function countStatements<T>(
  { appPool, runtime }: Pick<TestRuntime, 'appPool' | 'runtime'>,
  work: () => Promise<T>,
): Promise<{ result: T; count: number }> {
  const spies = [appPool, runtime.db.$client].map((pool) => vi.spyOn(pool, 'query'))
  try {
    const result = await work()
    return { result, count: spies.flatMap((spy) => spy.mock.calls).filter((call) => !isPeriodic(call)).length }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
