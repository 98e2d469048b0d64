import type { ConfigFiles } from '@muster/core/slurm-configs'
import type { SlurmRolloutProgress } from '@muster/core/slurm-operations'
import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import type { OperationContext } from './operation.ts'

const FROM: ConfigFiles = { 'slurm.conf': 'ClusterName=a\n', 'cgroup.conf': 'old\n' }
const TO: ConfigFiles = { 'slurm.conf': 'ClusterName=a\nKillWait=3\n', 'cgroup.conf': 'new\n' }
const change = { from: 1, to: 2 }
const HOSTS = ['ctl', 'login'].map((name) => ({ name, nodeId: name }))
const CONTROLLERS = [{ name: 'ctl', nodeId: 'ctl', controller: 'ctl' }]

/** The hosts, Slurm, and what is stored. */
const world = vi.hoisted(() => ({
  files: new Map<string, unknown>(),
  progress: null as unknown,
  working: [] as string[] | null,
  removedNodes: [] as string[],
  jobs: new Map<string, string[]>(),
  recorded: [] as number[],
  tried: [] as string[],
  refusal: null as string | null,
  from: null as unknown,
  to: null as unknown,
  controllers: [] as string[],
  onlyBefore: [] as string[],
  onlyAfter: [] as string[],
}))
vi.mock('@muster/core/slurm-configs', async (original) => ({
  ...(await original<object>()),
  readSlurmRollout: async () => ({
    from: world.from,
    to: world.to,
    plan: { controllers: 'RESTART', nodes: ['n1', 'n2'], addedNodes: [], removedNodes: world.removedNodes, lost: [] },
    hosts: [...world.files.keys()].map((name) => ({ name, nodeId: name })),
    controllers: world.controllers.map((name) => ({ name, nodeId: name, controller: name })),
    onlyBefore: world.onlyBefore.map((name) => ({ name, nodeId: name })),
    onlyAfter: world.onlyAfter.map((name) => ({ name, nodeId: name })),
    slurmdNodes: new Map(['n1', 'n2'].map((name) => [name, { name: `${name}.example.org`, nodeId: name }])),
    unknownNodes: [],
    progress: world.progress,
  }),
  recordSlurmConfigRollout: async (_: unknown, { number }: { number: number }) => void world.recorded.push(number),
}))
vi.mock('@muster/core/slurm-operations', async (original) => ({
  ...(await original<object>()),
  renewSlurmOperation: async (_: unknown, { rollout }: { rollout: unknown }) => {
    world.progress = rollout
    return true
  },
}))
vi.mock('./config-files.ts', async (original) => ({
  ...(await original<object>()),
  readConfigFiles: async (name: string) => {
    const files = world.files.get(name)
    if (files === 'UNREACHABLE') throw new OperationFailure(`${name} is unreachable.`)
    return files
  },
}))
vi.mock('./trial-start.ts', () => ({
  async validateConfig(_op: unknown, { name }: { name: string }, { number }: { number: number }, isAdvisory: boolean) {
    world.tried.push(`${name} ${number}`)
    if (world.refusal !== null && !isAdvisory) throw new OperationFailure(world.refusal)
  },
}))
vi.mock('../read-cluster.ts', () => ({
  readCluster: async () => {
    if (world.working === null) throw new OperationFailure('slurmctld does not answer.')
    return { nodes: ['n1', 'n2'].map((name) => ({ name, states: [world.working!.includes(name) ? 'IDLE' : 'DOWN'] })) }
  },
}))
vi.mock('./cluster-state.ts', () => ({
  readClusterNodes: async () => ({
    nodes: new Map(['n1', 'n2'].map((name) => [name, { name, states: ['IDLE', 'DRAIN'] }])),
    jobs: world.jobs,
  }),
}))

// Test files share a process: an earlier one may have loaded these modules with the real ones, and a later one needs the real ones.
vi.resetModules()
afterAll(() => void vi.resetModules())
const { OperationFailure } = await import('./operation.ts')
const { rolloutConfig, undoRollout } = await import('./rollout-config.ts')

let runs: { name: string; vars: Record<string, unknown> }[]
const op = {
  ctx: {},
  row: { id: '1', claimToken: 'token', cancelRequestedAt: null, error: null },
  cluster: { id: '1', settings: {}, programFolder: null },
  signal: new AbortController().signal,
  onNode: (name: string, work: (name: never) => unknown) => work(name as never),
  slurm: (work: (controller: never) => unknown) => work({} as never),
  report: async () => {},
  updateNodes: async () => {},
  async startRun(_: string, _nodes: string[], vars: Record<string, unknown>, name: string) {
    runs.push({ name, vars })
    for (const host of world.files.keys())
      if (world.files.get(host) !== 'UNREACHABLE') world.files.set(host, vars.slurm_config_files)
    return { run: { status: 'SUCCEEDED', number: 1 }, hosts: new Map() }
  },
} as unknown as OperationContext
const stored = (progress: Partial<SlurmRolloutProgress> = {}): SlurmRolloutProgress => ({
  ...{ ...change, hosts: HOSTS, controllers: CONTROLLERS, newHosts: [], workingNodes: ['n1', 'n2'], failure: null },
  ...progress,
})
beforeEach(() => {
  runs = []
  Object.assign(world, {
    progress: null,
    working: ['n1', 'n2'],
    removedNodes: [],
    jobs: new Map(),
    recorded: [],
    tried: [],
    refusal: null,
    from: FROM,
    to: TO,
    controllers: ['ctl'],
    onlyBefore: [],
    onlyAfter: [],
  })
  world.files = new Map([
    ['ctl', FROM],
    ['login', FROM],
  ])
})

it('stores the nodes that work before it writes, and restarts slurmd of these by the names of the inventory', async () => {
  world.working = ['n1']
  await rolloutConfig(op, change)
  expect(world).toMatchObject({ progress: stored({ workingNodes: ['n1'] }), recorded: [2] })
  expect(runs).toMatchObject([
    { name: 'rollout', vars: { slurm_config_daemons: ['n1.example.org'], slurm_config_restore: false } },
  ])
})

it('lets slurmctld of the primary try the files first, and writes nothing when it refuses them', async () => {
  world.refusal = 'fatal: no plugin'
  await expect(rolloutConfig(op, change)).rejects.toThrow('fatal: no plugin')
  expect(world.tried).toEqual(['ctl 2'])
  expect({ runs, progress: world.progress }).toEqual({ runs: [], progress: null })
})

it('restores an earlier state although slurmctld refuses the files', async () => {
  world.refusal = 'fatal: no plugin'
  await rolloutConfig(op, { ...change, isRollback: true })
  expect(world).toMatchObject({ tried: ['ctl 2'], recorded: [2] })
  Object.assign(world, { progress: null, recorded: [] })
  await rolloutConfig({ ...op, row: { ...op.row, error: 'No node is left.' } }, change)
  expect(world.recorded).toEqual([2])
})

it('writes nothing while Slurm does not answer', async () => {
  world.working = null
  await expect(rolloutConfig(op, change)).rejects.toThrow(/Nothing was written. Start slurmctld/)
  expect(runs).toEqual([])
})

it('restores after a kill during the restore, although the hosts have the earlier files', async () => {
  world.progress = stored({ failure: 'n1 does not respond.' })
  await expect(rolloutConfig(op, change)).rejects.toThrow('n1 does not respond. The earlier files were restored on all hosts.')
  expect(runs).toMatchObject([{ name: 'restore', vars: { slurm_config_restore: true } }])
  expect(world.recorded).toEqual([])
})

it('records no version that a host does not have', async () => {
  const { startRun } = op
  const ignoring = {
    ...op,
    startRun: (...given: Parameters<typeof startRun>) => (given[3] === 'rollout' ? done : startRun(...given)),
  }
  const done = Promise.resolve({ run: { status: 'SUCCEEDED' }, hosts: new Map() }) as unknown as ReturnType<typeof startRun>
  world.progress = stored()
  await expect(rolloutConfig(ignoring, change)).rejects.toThrow('ctl, login do not have version 2.')
  expect(world.recorded).toEqual([])
})

it('writes nothing while jobs run on nodes that it removes', async () => {
  world.removedNodes = ['n2']
  world.jobs = new Map([['n2', ['7']]])
  await expect(rolloutConfig(op, change)).rejects.toThrow('Jobs run on n2: 7.')
  expect(runs).toEqual([])
})

it('accepts a host that has some of the new files, and refuses other ones', async () => {
  world.files.set('login', { ...FROM, 'cgroup.conf': TO['cgroup.conf'] })
  await rolloutConfig(op, change)
  world.files.set('login', { ...FROM, 'cgroup.conf': 'by hand\n' })
  await expect(rolloutConfig(op, change)).rejects.toThrow(/changed without Muster since version 1/)
})

it('stops at a host without files that the new version does not add', async () => {
  world.files.set('login', null)
  await expect(rolloutConfig(op, change)).rejects.toThrow(/login: slurm.conf is missing/)
  expect({ runs, progress: world.progress }).toEqual({ runs: [], progress: null })
})

/** Files with these controllers, the primary first. */
const filesOf = (...names: string[]): ConfigFiles => ({
  'slurm.conf': `ClusterName=a\n${names.map((name) => `SlurmctldHost=${name.toUpperCase()}.example.org(10.0.0.1)\n`).join('')}`,
})

it.each([
  ['a new primary', ['a', 'b'], ['c', 'b'], ['c', 'b'], ['a', 'b']],
  ['a removed primary', ['a', 'b'], ['b'], ['b'], ['a', 'b']],
  ['exchanged controllers', ['a', 'b'], ['b', 'a'], ['b', 'a'], ['a', 'b']],
])('restarts the controllers in the order of the written files: %s', async (_, before, after, written, restored) => {
  const names = [...new Set([...before, ...after])]
  Object.assign(world, { from: filesOf(...before), to: filesOf(...after), controllers: names })
  world.onlyBefore = before.filter((name) => !after.includes(name))
  world.onlyAfter = after.filter((name) => !before.includes(name))
  world.files = new Map(names.map((name) => [name, world.onlyAfter.includes(name) ? null : world.from]))
  await rolloutConfig(op, change)
  await undoRollout(op, change)
  expect(runs.map(({ name, vars }) => [name, vars.slurm_config_controllers])).toEqual([
    ['rollout', written],
    ['restore', restored],
  ])
})

it('writes the files on controllers that it adds, and removes them there when the rollout is undone', async () => {
  world.onlyAfter = ['login']
  world.files.set('login', null)
  await rolloutConfig(op, change)
  expect(runs).toMatchObject([{ name: 'rollout', vars: { slurm_config_new: ['login'] } }])
  expect(world).toMatchObject({ progress: stored({ newHosts: ['login'] }), recorded: [2] })
  // They disappeared during the rollout.
  world.progress = stored()
  world.files.set('login', null)
  await expect(rolloutConfig(op, change)).rejects.toThrow(/login: slurm.conf is missing/)
  world.progress = stored({ newHosts: ['login'] })
  world.files.set('ctl', FROM)
  await undoRollout(op, change)
  expect(runs).toHaveLength(1)
  world.files.set('login', TO)
  await undoRollout(op, change)
  expect(runs[1]).toMatchObject({ name: 'restore', vars: { slurm_config_new: ['login'], slurm_config_restore: true } })
})

it('undoes a rollout when a host does not answer, and only when a file was written', async () => {
  world.files = new Map<string, unknown>([
    ['ctl', TO],
    ['login', 'UNREACHABLE'],
  ])
  await undoRollout(op, change)
  expect(runs).toEqual([])
  world.progress = stored()
  await undoRollout(op, change)
  expect(runs).toMatchObject([{ name: 'restore' }])
  expect(world.files.get('ctl')).toBe(FROM)
})
