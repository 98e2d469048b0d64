import { setTimeout as sleep } from 'node:timers/promises'

/** Polls `check` every `everyMs` and returns its first truthy result; undefined after `withinMs`. */
export async function waitFor<T>(check: () => T | Promise<T>, withinMs: number, everyMs = 20): Promise<T | undefined> {
  const end = performance.now() + withinMs
  for (;;) {
    const found = await check()
    if (found) return found
    if (performance.now() > end) return undefined
    await sleep(everyMs)
  }
}
