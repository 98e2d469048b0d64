import type { PowerSavingOperation, PowerSavingSettings } from '@muster/core/slurm-power'
import { beforeEach, expect, test, vi } from 'vitest'
import type { OperationContext } from '../operation.ts'

const BOOTS = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']
/** What is stored, and what Slurm reports at each reading. */
const world = vi.hoisted(() => ({
  poweredOn: null as Record<string, string | null> | null,
  isSuspending: false,
  boots: [] as string[],
  requests: [] as unknown[],
}))
vi.mock('@muster/core/slurm-power', async (original) => ({
  ...(await original<object>()),
  powerOnSuspended: async (_: unknown, { bootedAt }: { bootedAt: Record<string, string | null> }) => {
    world.requests.push(bootedAt)
    if (world.isSuspending) {
      world.isSuspending = false
      return null
    }
    world.poweredOn ??= bootedAt
    return world.poweredOn
  },
  removePowerSaving: async () => {},
}))
vi.mock('../cluster-state.ts', () => ({
  runAsRoot: async () => '',
  async pollCluster(_op: unknown, _until: Date, look: (now: object) => Promise<unknown>) {
    for (;;) {
      if (world.boots.length === 0) return null
      const node = { states: ['IDLE'], reason: null, bootAt: new Date(world.boots.shift()!) }
      const found = await look({ nodes: new Map([['n1', node]]) })
      if (found !== null) return found
    }
  },
}))
vi.mock('../rollout.ts', () => ({ restoreConfiguration: { name: 'restore', run: async () => {} } }))
// Other test files of this process may have loaded it without the mocks.
vi.resetModules()
const { POWER_SAVING } = await import('./power-saving.ts')

const settings = (apiUrl: string): PowerSavingSettings => ({
  ...{ suspendTimeSeconds: 600, suspendTimeoutSeconds: 300, resumeTimeoutSeconds: 600, suspendRate: 60, resumeRate: 60 },
  ...{ excludedNodes: null, excludedPartitions: [], apiUrl, caCertificate: null },
})
let reports: string[]
let runs: { vars: Record<string, unknown>; part: string | undefined }[]
function operation(plan: Pick<PowerSavingOperation, 'settings' | 'previous'>): OperationContext {
  return {
    row: { id: 'o', plan: { ...plan, controllers: [{ nodeId: 'c', name: 'ctl' }] } },
    cluster: { id: 'k', name: 'prod' },
    signal: new AbortController().signal,
    report: async (message: string) => void reports.push(message),
    async startRun(_template: string, _nodes: string[], vars: Record<string, unknown>, part?: string) {
      runs.push({ vars, part })
      return { run: { status: 'SUCCEEDED' }, hosts: new Map() }
    },
  } as unknown as OperationContext
}
const runStep = (name: string, op: OperationContext) =>
  [...POWER_SAVING.steps, ...POWER_SAVING.undo].find((step) => step.name === name)!.run(op)
beforeEach(() => {
  Object.assign(world, { poweredOn: null, isSuspending: false, boots: [], requests: [] })
  ;[reports, runs] = [[], []]
})
const off = () => operation({ settings: null, previous: settings('https://old.example.org') })

test('off waits for the end of suspends before it powers nodes on', async () => {
  Object.assign(world, { isSuspending: true, boots: [BOOTS[0], BOOTS[0], BOOTS[1]] })
  await runStep('finish', off())
  expect(world.requests).toHaveLength(2)
  expect(reports).toEqual(['Power 1 suspended nodes on: n1.'])
  expect(runs).toMatchObject([{ vars: { slurm_power_state: 'absent' } }])
})

test('off fails when suspends do not end', async () => {
  Object.assign(world, { isSuspending: true, boots: [BOOTS[0]] })
  await expect(runStep('finish', off())).rejects.toThrow('have not ended')
})

test('off that another worker continues knows nodes that booted meanwhile', async () => {
  Object.assign(world, { poweredOn: { n1: BOOTS[0] }, boots: [BOOTS[1], BOOTS[1]] })
  await runStep('finish', off())
  expect(reports).toEqual(['Power 1 suspended nodes on: n1.'])
})

test('a change that is undone installs the earlier settings again', async () => {
  await runStep(
    'undo',
    operation({ settings: settings('https://new.example.org'), previous: settings('https://old.example.org') }),
  )
  expect(runs).toEqual([{ part: 'previous', vars: expect.objectContaining({ slurm_power_url: 'https://old.example.org' }) }])
})
