import { setImmediate, setTimeout } from 'node:timers/promises'
import { isTransientDbError } from './retry-transient.ts'

/**
 * Makes few statements of many: what is asked for in the same turn, or while `work` is under way, is done all together. Who asks
 * alone does not wait. What the database refuses is done one by one, so that only who asked for it is told.
 * @param work gives one answer for each input, in their order; must bear being done again
 * @param most inputs that one call takes
 * @param everyMs least time from one call to the next, unless there is more than one call takes
 */
export function batch<I, O>(work: (inputs: I[]) => Promise<O[]>, most: number, everyMs = 0): (input: I) => Promise<O> {
  type Waiting = { input: I; resolve: (output: O) => void; reject: (error: unknown) => void }
  const waiting: Waiting[] = []
  let isWorking = false

  const attempt = async (some: Waiting[]): Promise<void> => {
    try {
      const outputs = await work(some.map(({ input }) => input))
      for (const [i, { resolve }] of some.entries()) resolve(outputs[i]!)
    } catch (error) {
      if (some.length === 1 || isTransientDbError(error)) for (const { reject } of some) reject(error)
      else for (const one of some) await attempt([one])
    }
  }
  const drain = async () => {
    isWorking = true
    await setImmediate()
    while (waiting.length > 0) {
      const next = performance.now() + everyMs
      await attempt(waiting.splice(0, most))
      if (everyMs > 0 && waiting.length < most) await setTimeout(Math.max(0, next - performance.now()))
    }
    isWorking = false
  }
  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject })
      if (!isWorking) void drain()
    })
}
