/**
 * Call `check` until it neither throws nor gives false or undefined; its last error otherwise.
 * @param within milliseconds; long, since nothing is slow here but a busy machine
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
