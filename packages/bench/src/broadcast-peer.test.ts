import { expect, test } from 'vitest'
import { broadcast } from './broadcast-peer.ts'

test('every client receives every message', async () => {
  const { bytesPerSecond, cpuPerMb } = await broadcast({ clients: 5, messages: 200, bytes: 10_000 })
  expect(bytesPerSecond).toBeGreaterThan(0)
  expect(cpuPerMb).toBeGreaterThanOrEqual(0)
})
