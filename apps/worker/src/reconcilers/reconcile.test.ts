import { createLog } from '@muster/core/log'
import { expect, it, onTestFinished, vi } from 'vitest'
import { reconcile } from './reconcile.ts'

const log = createLog('test', 'silent')
const HOUR = 3_600_000

it('repeats, also after a failure', async () => {
  let passes = 0
  const one = reconcile('frequent', 1, log, async () => {
    passes++
    throw new Error('failed')
  })
  await expect.poll(() => passes).toBeGreaterThan(2)
  await one.stop()
})

it('pauses twice as long as the pass took when that exceeds the interval', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let passes = 0
  reconcile('slow', 100, log, async () => {
    passes++
    await new Promise((resolve) => setTimeout(resolve, 1000))
  })
  await vi.advanceTimersByTimeAsync(2999)
  expect(passes).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(passes).toBe(2)
})

it('runs at once when triggered, and once more when triggered during a pass', async () => {
  const ends: (() => void)[] = []
  const one = reconcile('rare', HOUR, log, () => new Promise<void>((resolve) => void ends.push(resolve)))
  expect(ends.length).toBe(1)
  one.trigger()
  one.trigger()
  expect(ends.length).toBe(1)
  ends[0]!()
  await expect.poll(() => ends.length).toBe(2)
  const stopped = one.stop()
  ends[1]!()
  await stopped
  expect(ends.length).toBe(2)
})

it('completes its pass before it stops, and ignores triggers then', async () => {
  let end = () => {}
  let passes = 0
  const one = reconcile('rare', HOUR, log, () => {
    passes++
    return new Promise<void>((resolve) => {
      end = resolve
    })
  })
  let isStopped = false
  const stopping = one.stop().then(() => {
    isStopped = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isStopped).toBe(false)
  end()
  await stopping
  one.trigger()
  expect(passes).toBe(1)
})
