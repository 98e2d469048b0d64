import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import {
  addSlurmCluster,
  finishSlurmLookup,
  finishSlurmTest,
  recordSlurmTestQueries,
  type SlurmLookupResult,
  slurmClusterTests,
  slurmLookups,
} from '../../../../../packages/core/src/clusters/index.ts'
import {
  recordRefresh,
  slurmJob,
  slurmJobRecord,
  slurmNode,
  slurmPartition,
} from '../../../../../packages/core/src/testing/index.ts'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

let t: TestApi
let tenant: Awaited<ReturnType<TestApi['given']['tenant']>>
let clusterId: string
beforeAll(async () => {
  t = await startTestApi()
  tenant = await t.given.tenant()
  const nodes = await t.given.fleet(tenant.operator, { nodes: 3, with: { hostKey: HOST_KEY } })
  await t.signIn(tenant.admin)
  clusterId = (await addSlurmCluster(tenant.admin, { name: 'prod', controllerNodeId: nodes[0]!.id })).id
})
afterAll(() => t?.close())

const drained = { states: ['IDLE', 'DRAIN'], reason: 'disk' }
const record = (error: string | null = null) =>
  recordRefresh(tenant.worker, {
    id: clusterId,
    queries: [],
    durationMs: 120,
    error,
    state: error
      ? null
      : {
          ...{ clusterName: 'alpha', version: '23.11.4', settings: {}, reservations: [], scheduler: null },
          controllers: [{ role: 'primary', hostname: 'ctl', isUp: true }],
          nodes: [slurmNode('gpu001'), slurmNode('n002'), slurmNode('n003'), slurmNode('n009', drained)],
          partitions: [slurmPartition('debug', { nodes: 'gpu001,n[002-003,009]', totalNodes: 4 })],
          jobs: [
            slurmJob(1, { nodes: 'n[002-003]' }),
            slurmJob(2, { states: ['PENDING'], reason: 'Resources', nodes: '', user: 'bob' }),
          ],
        },
  })
const one = async (line: string) => JSON.parse((await muster(`${line} -o json`)).out)

it('lists clusters with their use and the age of their data', async () => {
  expect((await muster('cluster list')).out).toMatch(/prod +WAITING/)
  await record()
  expect((await muster('cluster list')).out).toMatch(/prod +OK, read \d+ s ago +23\.11\.4 +4 +8\/32 +4\/16 +1 +1 /m)
  await record('No controller answers: ctl.')
  const { out, err } = await muster('slurm node list')
  expect(err).toMatch(/^prod: NOT ANSWERING since \d+ s ago; data of \d+ s ago\. No controller answers: ctl\.$/m)
  expect(out).toContain('n[002-003]')
  expect((await muster('cluster list --state not-answering -o name')).out).toBe('prod\n')
  await record()
})

it('folds the nodes of a state, and lists nodes that match', async () => {
  expect((await muster('slurm node list')).out).toMatch(
    /MIXED +3 +6\/24 +3\/12 +gpu001,n\[002-003\]\n *DRAINED +1 +2\/8 +1\/4 +n009/,
  )
  expect((await muster('slurm node list n[001-099] --state drain')).out).toMatch(/^n009 +DRAINED +debug .* disk/m)
  expect((await muster('slurm node list --match matched -o name')).out).toBe('gpu001\n')
  expect((await muster('slurm node list --partition other')).err).toContain('No nodes match these filters.')
  const { out } = await muster('slurm node get gpu001')
  expect(out).toMatch(/^node +gpu001 \(NAME\)$/m)
  expect((await muster('node get gpu001')).out).toMatch(/^slurm +gpu001 in prod: MIXED$/m)
  expect(await muster('slurm node get nope')).toMatchObject({
    code: 4,
    err: expect.stringContaining('No node named nope in prod'),
  })
})

it('matches a node of the inventory by hand, and undoes it', async () => {
  expect((await muster('slurm node match n002 gpu002')).err).toBe('n002 is the node gpu002.\n')
  await record()
  expect((await one('slurm node get n002')).matchedBy).toBe('MANUAL')
  expect((await muster('slurm node unmatch gpu001')).err).toBe('gpu001 is no node of the inventory.\n')
  await record()
  expect(await one('slurm node get gpu001')).toMatchObject({ node: null, matchedBy: 'MANUAL', match: 'UNMATCHED' })
  expect((await muster('slurm node match gpu001 --automatic')).err).toBe('gpu001 is the node gpu001.\n')
  expect((await muster('slurm node match gpu001')).code).toBe(2)
})

it('lists partitions and jobs', async () => {
  expect((await muster('slurm partition list')).out).toMatch(/^debug\* +UP +4 /m)
  expect(await one('slurm partition get debug')).toMatchObject({
    jobsByState: [
      { state: 'PENDING', jobs: 1 },
      { state: 'RUNNING', jobs: 1 },
    ],
  })
  expect((await muster('slurm job list --state pending')).out).toMatch(/^2 +PENDING +bob +debug .*Resources/m)
  expect((await muster('slurm job list --node n003 -o name')).out).toBe('1\n')
  expect(await one('slurm job get 1')).toMatchObject({ jobId: '1', nodeList: 'n[002-003]', timeLimitMinutes: 60 })
  expect(await muster('slurm job get 77')).toMatchObject({
    ...{ code: 4, err: 'No job 77 in the queue of prod. If it has ended, see `muster slurm job history 77`.\n' },
  })
})

it('shows a cluster, changes it and removes it', async () => {
  expect((await muster('cluster get prod')).out).toMatch(/^pending for +1 Resources$/m)
  expect((await muster('cluster update prod --region eu --max-nodes 10 --name main')).err).toBe('Updated main.\n')
  expect(await one('cluster get main')).toMatchObject({ region: 'eu', maxNodes: 10, reuseConfig: true })
  expect((await muster('cluster add second gpu001')).err).toContain('The cluster main has this controller')
  expect((await muster('cluster add second gpu002 --no-reuse-config')).err).toContain('Added second.')
  expect(await muster('slurm job list')).toMatchObject({
    code: 2,
    err: expect.stringContaining('There are several clusters: main, second.'),
  })
  expect((await muster('slurm job list --cluster second')).err).toContain('The cluster has no jobs.')
  expect((await muster('cluster remove second --yes')).err).toBe('Removed second.\n')
  expect((await muster('cluster get second')).code).toBe(4)
})

it('prints the commands of a test as they end', async () => {
  const printed = muster('cluster test gpu003')
  const [test] = await vi.waitFor(async () => {
    const rows = await t.runtime.db.select().from(slurmClusterTests)
    expect(rows).toHaveLength(1)
    return rows
  }, 10_000)
  const query = {
    query: 'login',
    command: 'ssh',
    state: 'OK',
    exitCode: null,
    durationMs: 3,
    detail: 'fine',
    hint: null,
  } as const
  const failed = { ...query, query: 'version', state: 'FAILED', detail: 'command not found', hint: 'Set the folder.' } as const
  await recordSlurmTestQueries(tenant.worker, { id: test!.id, queries: [query] })
  await finishSlurmTest(tenant.worker, { id: test!.id, queries: [query, failed], preview: null, error: 'Slurm is missing.' })
  const { out, err, code } = await printed
  expect(out).toBe('OK       login, 3 ms: fine\nFAILED   version, 3 ms: command not found\n         Set the folder.\n')
  expect({ err, code }).toEqual({ err: 'Slurm is missing.\n', code: 1 })
})

/** Runs a command, and ends its lookups as a worker does. */
async function lookedUp(command: string, ...results: (Partial<SlurmLookupResult> | string)[]) {
  const printed = muster(command)
  for (const result of results) {
    const id = await vi.waitFor(async () => {
      const lookups = await t.runtime.db.select().from(slurmLookups)
      return lookups.find(({ finishedAt }) => finishedAt === null)!.id
    }, 10_000)
    const nothing: SlurmLookupResult = {
      hasAccounting: true,
      jobs: [],
      searchedSinceSeconds: null,
      next: null,
      priorities: [],
      shares: [],
    }
    const outcome =
      typeof result === 'string' ? { result: null, error: result } : { result: { ...nothing, ...result }, error: null }
    await finishSlurmLookup(tenant.worker, { id, ...outcome })
  }
  return printed
}

it('lists finished jobs until there are enough, and shows one with its steps', async () => {
  const canceled = slurmJobRecord(8, { state: 'CANCELLED', canceledBy: 0, exitCode: { code: 0, signal: 15 } })
  const { out } = await lookedUp(
    'slurm job history --user alice --since 7d -n 5',
    { jobs: [canceled], next: { endSeconds: 9, id: 8 } },
    { next: { endSeconds: 5, id: null } },
    { jobs: [slurmJobRecord(7)] },
  )
  expect(out).toMatch(/^JOBID .*ENDED.*\n8 +CANCELLED by 0 +0:15 +alice +ml .*\n7 +COMPLETED +0:0 .* 1:00:00 /)
  const requests = (await t.runtime.db.select().from(slurmLookups)).map(({ request }) => request)
  expect(requests).toMatchObject([
    { filter: { users: ['alice'] }, after: null, limit: 5 },
    { after: { endSeconds: 9, id: 8 }, limit: 4 },
    { after: { endSeconds: 5, id: null }, limit: 4 },
  ])
  const shown = (await lookedUp('slurm job history 7', { jobs: [slurmJobRecord(7)] })).out
  expect(shown).toMatch(/^cpu time +2:00:00 \(50 %\)$/m)
  expect(shown).toMatch(/^memory +1 GiB of 3\.9 GiB$/m)
  expect(shown).toMatch(/^STEP +NAME .*\nbatch +batch +COMPLETED +0:0 +1 +n1 +1:00:00 +2:00:00 +1 GiB/m)
  expect(await lookedUp('slurm job history 99', {})).toMatchObject({ code: 4, err: 'The accounting has no job 99.\n' })
  const none = 'Jobs are not recorded on prod: it has no accounting.'
  expect(await lookedUp('slurm job history', none)).toMatchObject({ code: 1, err: `${none}\n` })
})

it('shows priority factors and shares of a pending job', async () => {
  const factor = (points: number, value: number | null) => ({ factor: 'AGE' as const, resource: null, points, value })
  const tres = { factor: 'TRES' as const, resource: 'gres/gpu', points: 3000, value: 1 }
  const share = { account: 'ml', user: 'bob', shares: 5, normalizedShares: 0.25, usage: 10, effectiveUsage: 0.5 }
  const { out } = await lookedUp('slurm job priority 2', {
    priorities: [{ id: 2, partition: 'debug', priority: 3100, factors: [factor(100, 0.12345678), factor(0, 0), tres] }],
    shares: [{ ...share, fairShare: 0.125, levelFairShare: null }],
  })
  expect(out).toMatch(/^debug +PRIORITY +3100 +-\ndebug +AGE +100 +0\.1235\ndebug +TRES gres\/gpu +3000 +1\n\n/m)
  expect(out).toMatch(/^ml +bob +5 +0\.25 +10 +0\.5 +0\.125$/m)
  expect((await muster('slurm job priority 1')).err).toContain('The job 1 is RUNNING')
})

it('waits for the end of a refresh', async () => {
  const printed = muster('cluster refresh main')
  await vi.waitFor(async () => {
    await record()
    expect((await Promise.race([printed, { err: '' }])).err).toMatch(/^Read 4 nodes and 2 jobs in 120 ms\.$/m)
  }, 10_000)
})

it('sums clusters by region, lists idle GPUs by model, and estimates starts', async () => {
  await record()
  const { out } = await muster('cluster totals')
  expect(out).toMatch(/^all +1 +0 +3\/4 +8\/32 +4\/16 +1 +1 *$/m)
  expect(out).toMatch(/^h100 +9 +12 +16 +main 9 *$/m)
  const { gpuModels } = await one('cluster totals')
  expect(gpuModels).toMatchObject([{ model: 'h100', gpus: 16, inService: 12, allocated: 4, idle: 9 }])
  expect((await muster('cluster estimate --cpus 4 --gpus 2 --gpu-type h100 --time 60')).out).toMatch(/^now +main +debug +1 +\S+/m)
  expect((await muster('cluster estimate --cpus 64 --time 60')).out).toMatch(/^unknown +main .*enough nodes in service/m)
})
