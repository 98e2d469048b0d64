import { isDatabaseAway } from './patiently.ts'

/**
 * Makes few statements of many: what is asked for while `work` is under way waits for it, and is then done all together. Who asks
 * alone does not wait. What the database refuses is done one by one, so that only who asked for it is told.
 * @param work gives one answer for each input, in their order; must bear being done again
 * @param most inputs that one call takes
 */
export function together<I, O>(work: (inputs: I[]) => Promise<O[]>, most: number): (input: I) => Promise<O> {
  type Waiting = { input: I; resolve: (output: O) => void; reject: (error: unknown) => void }
  let waiting: Waiting[] = []
  let isWorking = false

  const attempt = async (some: Waiting[]): Promise<void> => {
    try {
      const outputs = await work(some.map(({ input }) => input))
      for (const [i, { resolve }] of some.entries()) resolve(outputs[i]!)
    } catch (error) {
      if (some.length === 1 || isDatabaseAway(error)) for (const { reject } of some) reject(error)
      else for (const one of some) await attempt([one])
    }
  }
  const drain = async () => {
    isWorking = true
    while (waiting.length > 0) {
      const some = waiting.slice(0, most)
      waiting = waiting.slice(most)
      await attempt(some)
    }
    isWorking = false
  }
  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject })
      if (!isWorking) void drain()
    })
}
