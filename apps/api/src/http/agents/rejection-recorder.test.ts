import type { NodeRejections } from '@muster/core/heartbeats'
import type { Runtime } from '@muster/core/registry'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRejectionRecorder } from './rejection-recorder.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const rejection = { code: 'signature_invalid', message: 'no' } as const

function recorder() {
  const recorded: NodeRejections[] = []
  const record = createRejectionRecorder({} as Runtime, async (rejections) => void recorded.push(...rejections))
  /** What was recorded in this time. */
  const after = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
    return recorded.splice(0).map(({ nodeId, count }) => `${nodeId} ${count}`)
  }
  return { record, after }
}

test('records heartbeats without a valid signature once a minute per node, with their number', async () => {
  const { record, after } = recorder()
  for (let i = 0; i < 3; i++) record('a', rejection, 'anybody')
  expect(await after(1000)).toEqual(['a 1'])
  record('a', rejection, 'anybody')
  expect(await after(58_000)).toEqual([])
  record('a', rejection, 'signer')
  expect(await after(1000)).toEqual(['a 1'])
  record('a', rejection, 'anybody')
  expect(await after(1000)).toEqual(['a 4'])
})

test('bounds the nodes of heartbeats without a valid signature per second, not those of others', async () => {
  const { record, after } = recorder()
  const send = (sender: 'anybody' | 'signer', prefix: string) => {
    for (let i = 0; i < 200; i++) record(`${prefix}${i}`, rejection, sender)
  }
  send('anybody', 'a')
  expect(await after(1000)).toHaveLength(50)
  // The next second takes other nodes.
  send('anybody', 'a')
  send('signer', 'b')
  const second = await after(1000)
  expect(second.filter((text) => text.startsWith('a'))).toHaveLength(50)
  expect(second).toContain('a50 1')
  expect(second.filter((text) => text.startsWith('b'))).toHaveLength(200)
})
