import { expect, test } from 'vitest'
import { cachedMetrics } from './metrics.ts'

test('reads metrics at most once in two seconds, and again after a failure', async () => {
  let [time, reads] = [0, 0]
  let failure: Error | null = null
  const read = cachedMetrics(
    {
      async metrics() {
        reads++
        if (failure) throw failure
        return `read ${reads}`
      },
    },
    () => time,
  )
  expect(await Promise.all([read(), read()])).toEqual(['read 1', 'read 1'])
  time = 1999
  expect(await read()).toBe('read 1')
  time = 2000
  expect(await read()).toBe('read 2')
  time = 4000
  failure = new Error('no database')
  await expect(read()).rejects.toThrow('no database')
  failure = null
  expect(await read()).toBe('read 4')
})
