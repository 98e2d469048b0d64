import { setImmediate, setTimeout } from 'node:timers/promises'
import { isTransientDbError } from './retry-transient.ts'

/**
 * Coalesces concurrent calls: inputs of the same event-loop turn, and those that arrive while `work` runs, share its next call. A
 * single caller does not wait. When `work` fails for another reason than a lost database, each input is retried separately, so that
 * only callers with bad inputs get the error. Handwritten because DataLoader has neither this fallback nor a minimum interval.
 * @param work returns one output per input, in their order; must tolerate being repeated
 * @param most maximum number of inputs per call
 * @param everyMs minimum interval between calls, unless more inputs wait than one call takes
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
