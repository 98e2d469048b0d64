import { createLog } from '@muster/core/log'
import { eventually } from '@muster/core/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { reconcile } from './reconcile.ts'

const log = createLog('test', 'silent')
const HOUR = 3_600_000

it('comes again by itself, also after it failed', async () => {
  let turns = 0
  const one = reconcile('often', 1, log, async () => {
    turns++
    throw new Error('not this time')
  })
  await eventually(() => turns > 2)
  await one.stop()
})

it('rests for twice as long as it worked, when that is longer', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let turns = 0
  reconcile('slow', 100, log, async () => {
    turns++
    await new Promise((resolve) => setTimeout(resolve, 1000))
  })
  await vi.advanceTimersByTimeAsync(2999)
  expect(turns).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(turns).toBe(2)
})

it('runs at once when nudged, and once more when nudged during its turn', async () => {
  const ends: (() => void)[] = []
  const one = reconcile('seldom', HOUR, log, () => new Promise<void>((resolve) => void ends.push(resolve)))
  expect(ends.length).toBe(1)
  one.nudge()
  one.nudge()
  expect(ends.length).toBe(1)
  ends[0]!()
  await eventually(() => ends.length === 2)
  const stopped = one.stop()
  ends[1]!()
  await stopped
  expect(ends.length).toBe(2)
})

it('ends its turn before it stops, and takes no nudge then', async () => {
  let end = () => {}
  let turns = 0
  const one = reconcile('seldom', HOUR, log, () => {
    turns++
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
  one.nudge()
  expect(turns).toBe(1)
})
