/**
 * Calls `check` until it neither throws nor returns false or undefined. Throws its last error after the timeout. Not `vi.waitFor`,
 * because Playwright tests use it too and vitest cannot be imported there.
 * @param within timeout in milliseconds; an upper bound for a busy machine
 */
export async function eventually<T>(check: () => T | Promise<T>, within = 120_000): Promise<T> {
  const end = performance.now() + within
  for (;;) {
    try {
      const result = await check()
      if (result !== false && result !== undefined) return result
      if (performance.now() > end) throw new Error(`not within ${within} ms`)
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
