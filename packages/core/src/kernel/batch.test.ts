import { expect, test } from 'vitest'
import { batch } from './batch.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Records the inputs of each call; a call returns when `open` is called. */
function recorded(errorOf: (input: number) => Error | null = () => null) {
  const calls: number[][] = []
  const gates: (() => void)[] = []
  const work = async (inputs: number[]) => {
    calls.push(inputs)
    await new Promise<void>((resolve) => gates.push(resolve))
    for (const input of inputs) {
      const error = errorOf(input)
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

test('coalesces calls of one turn and calls that arrive during another call', async () => {
  const { calls, work, open } = recorded()
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

test('rejects only the call whose input fails', async () => {
  const { calls, work, open } = recorded((input) => (input === 3 ? new Error('bad input') : null))
  const ask = batch(work, 10)
  const answers = Promise.allSettled([1, 2, 3, 4].map(ask))
  await turn()
  await open()
  expect((await answers).map((answer) => answer.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(calls).toEqual([[1, 2, 3, 4], [1], [2], [3], [4]])
})

test('rejects all calls without a fallback when the database is unavailable', async () => {
  const lost = Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
  const { calls, work, open } = recorded((input) => (input > 1 ? lost : null))
  const ask = batch(work, 10)
  const answers = Promise.allSettled([1, 2, 3].map(ask))
  await turn()
  await open()
  expect((await answers).map((answer) => answer.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(calls).toEqual([[1, 2, 3]])
})

test('keeps a minimum interval between calls', async () => {
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
