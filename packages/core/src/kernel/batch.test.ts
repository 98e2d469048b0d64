import { expect, test } from 'vitest'
import { batch } from './batch.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Notes what each call was given, and answers when told to. */
function noted(refuses: (input: number) => Error | null = () => null) {
  const calls: number[][] = []
  const gates: (() => void)[] = []
  const work = async (inputs: number[]) => {
    calls.push(inputs)
    await new Promise<void>((resolve) => gates.push(resolve))
    for (const input of inputs) {
      const error = refuses(input)
      if (error) throw error
    }
    return inputs.map((input) => input * 10)
  }
  const open = async () => {
    while (gates.length > 0) {
      gates.shift()!()
      await turn()
    }
  }
  return { calls, work, open }
}

test('what comes in one turn, or while a call is under way, is done together, answered in order', async () => {
  const { calls, work, open } = noted()
  const ask = batch(work, 3)
  const one = ask(1)
  await turn()
  const answers = Promise.all([one, ...[2, 3, 4, 5].map(ask)])
  await open()
  expect(await answers).toEqual([10, 20, 30, 40, 50])
  expect(calls).toEqual([[1], [2, 3, 4], [5]])
  const others = Promise.all([6, 7].map(ask))
  await turn()
  await open()
  await others
  expect(calls.at(-1)).toEqual([6, 7])
})

test('what is refused fails alone', async () => {
  const { calls, work, open } = noted((input) => (input === 3 ? new Error('refused') : null))
  const ask = batch(work, 10)
  const answers = Promise.allSettled([1, 2, 3, 4].map(ask))
  await turn()
  await open()
  expect((await answers).map((answer) => answer.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(calls).toEqual([[1, 2, 3, 4], [1], [2], [3], [4]])
})

test('a database that is away is told to all at once', async () => {
  const away = Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
  const { calls, work, open } = noted((input) => (input > 1 ? away : null))
  const ask = batch(work, 10)
  const answers = Promise.allSettled([1, 2, 3].map(ask))
  await turn()
  await open()
  expect((await answers).map((answer) => answer.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(calls).toEqual([[1, 2, 3]])
})

test('calls keep their distance, and who asks after a while does not wait', async () => {
  const times: number[] = []
  const ask = batch(
    async (inputs: number[]) => {
      times.push(performance.now())
      return inputs
    },
    10,
    200,
  )
  await ask(1)
  await Promise.all([ask(2), ask(3)])
  expect(times.length).toBe(2)
  // Timers may be a little early.
  expect(times[1]! - times[0]!).toBeGreaterThan(190)
})
