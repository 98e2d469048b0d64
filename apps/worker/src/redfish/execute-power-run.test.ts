import type { ClaimedPowerRun, PowerAction, PowerOutcome } from '@muster/core/power'
import { expect, test } from 'vitest'
import { executePowerRun } from './execute-power-run.ts'

/** Starts a run on three nodes that are off. The BMCs are fakes that answer at once. */
function execute(run: { action: PowerAction; parallelism: number; delaySeconds: number }) {
  const startedAt = Date.now()
  const sent: [node: string, atSeconds: number][] = []
  const results: PowerOutcome['result'][] = []
  const items = ['n0', 'n1', 'n2'].map((id) => ({ id, nodeName: id, sentAt: null, before: null, bmc: { id } }))
  const claimed = { run: { ...run, bootDevice: null, slurmClusterId: null }, items } as unknown as ClaimedPowerRun
  const done = executePowerRun(claimed, {
    open: async ({ id }) => {
      const reading = { lastReset: null, bootDevice: null, permanentBootDevice: null }
      return {
        readPower: async () => ({ ...reading, state: sent.some(([node]) => node === id) ? 'ON' : 'OFF' }),
        prepare: async () => ({
          command: 'Reset On',
          send: async () => {
            sent.push([id, (Date.now() - startedAt) / 1000])
          },
        }),
        readDetails: () => Promise.reject(new Error('not used')),
        close: async () => {},
      }
    },
    journal: {
      command: async () => 'SEND',
      result: async (_, { result }) => {
        results.push(result)
        return true
      },
      reading: async () => {},
    },
    signal: new AbortController().signal,
    canceled: new AbortController().signal,
  })
  return { sent, results, done }
}

test.each([1, 3])('waits the delay between the commands of two nodes, with %i nodes in progress', async (parallelism) => {
  const { sent, results, done } = execute({ action: 'ON', parallelism, delaySeconds: 1 })
  await done
  expect(sent.map(([node]) => node)).toEqual(['n0', 'n1', 'n2'])
  // Timers may fire a millisecond early.
  for (const [i, [, at]] of sent.entries()) expect(at).toBeGreaterThanOrEqual(i * 0.99)
  expect(results).toEqual(['DONE', 'DONE', 'DONE'])
})
