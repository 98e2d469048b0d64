import {
  addSlurmCluster,
  claimSlurmRefresh,
  refreshSlurmCluster,
  releaseSlurmRefresh,
  slurmClusters,
} from '@muster/core/clusters'
import { addNode } from '@muster/core/nodes'
import { LOOPBACK, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { ControllerSessions } from '../slurm/controller-sessions.ts'
import { QueryFailure } from '../slurm/run-query.ts'
import { slurmRefreshHandler } from './slurm-refresh.ts'

let fixture: TestRuntime
beforeAll(async () => {
  fixture = await testRuntime()
})
afterAll(() => fixture.close())

it('releases a refresh that the stop of the worker interrupts, without a failure of the cluster', async () => {
  const { runtime, given } = fixture
  const { admin, tenant, worker } = await given.tenant()
  const node = await addNode(admin, { name: 'ctl', host: 'localhost', connectionType: 'local' })
  const { id } = await addSlurmCluster(admin, { name: 'lab', controllerNodeId: node.id })
  const stop = new AbortController()
  const controllers: ControllerSessions = {
    async use() {
      stop.abort()
      throw stop.signal.reason
    },
    close() {},
  }
  const config = { SSH_TIMEOUT: 5, LOCAL_TARGETS: LOOPBACK }
  const deps = { runtime, config, workerId: 'w', controllers, stopping: stop.signal }
  await slurmRefreshHandler(deps)({ id, tenantId: tenant.id })
  const [cluster] = await runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, id))
  expect(cluster).toMatchObject({ failingSince: null, failureCount: 0, lastError: null, claimedUntil: null })
  expect(cluster!.nextRefreshAt.getTime()).toBeLessThanOrEqual(Date.now())
  // A worker that lost its claim cannot release that of another one.
  const claim = await claimSlurmRefresh(worker, { id })
  await releaseSlurmRefresh(worker, { id, claimToken: 'lost' })
  expect(await claimSlurmRefresh(worker, { id })).toBeNull()
  await releaseSlurmRefresh(worker, { id, claimToken: claim!.claimToken })
  expect(await claimSlurmRefresh(worker, { id })).not.toBeNull()
})

it('renews the claim of a long refresh, keeps a request that arrives meanwhile, and stops when the claim is lost', async () => {
  const { runtime, given } = fixture
  const { admin, tenant } = await given.tenant()
  const node = await addNode(admin, { name: 'ctl', host: 'localhost', connectionType: 'local' })
  const { id } = await addSlurmCluster(admin, { name: 'lab', controllerNodeId: node.id })
  const read = async () => (await runtime.db.select().from(slurmClusters).where(eq(slurmClusters.id, id)))[0]!
  const renewed = async (before: Date | null) =>
    vi.waitFor(async () => expect((await read()).claimedUntil!.getTime()).toBeGreaterThan(before!.getTime()), { timeout: 20_000 })
  let work = async (_signal: AbortSignal | undefined): Promise<void> => {}
  const stopping = new AbortController()
  const controllers: ControllerSessions = {
    async use(_ctx, _nodeId, run) {
      // The first command shows the signal with which the refresh runs.
      await run({ exec: async (_command: string, options: { signal?: AbortSignal }) => work(options.signal) } as never)
      throw new QueryFailure('done')
    },
    close() {},
  }
  const deps = {
    runtime,
    config: { SSH_TIMEOUT: 5, LOCAL_TARGETS: LOOPBACK },
    workerId: 'w',
    controllers,
    stopping: stopping.signal,
  }
  const handle = slurmRefreshHandler({ ...deps, renewEveryMs: 20 })
  work = async () => {
    const { claimedUntil } = await read()
    await renewed(claimedUntil)
    const later = await read()
    expect(later.nextRefreshAt).toEqual(later.claimedUntil)
    await refreshSlurmCluster(admin, { id })
    await renewed(later.claimedUntil)
    throw new QueryFailure('long')
  }
  await handle({ id, tenantId: tenant.id })
  const after = await read()
  expect(after).toMatchObject({ lastError: 'long', claimToken: null })
  expect(after.nextRefreshAt.getTime()).toBeLessThanOrEqual(Date.now())
  work = async (signal) => {
    await runtime.db.update(slurmClusters).set({ claimToken: null }).where(eq(slurmClusters.id, id))
    await vi.waitFor(() => expect(signal!.aborted).toBe(true), { timeout: 20_000 })
    throw new QueryFailure('taken over')
  }
  await handle({ id, tenantId: tenant.id })
  expect(await read()).toMatchObject({ lastError: 'long', failureCount: 1 })
})

it('reads the configuration when that of the cluster is older than ten minutes', async () => {
  const { runtime, given } = fixture
  const { admin, tenant } = await given.tenant()
  const node = await addNode(admin, { name: 'ctl', host: 'localhost', connectionType: 'local' })
  const { id } = await addSlurmCluster(admin, { name: 'lab', controllerNodeId: node.id })
  const answers: Record<string, string> = {
    'scontrol --version': 'slurm 22.05.8',
    'scontrol ping': 'Slurmctld(primary) at ctl is UP',
  }
  let commands: string[] = []
  const session = {
    async exec(_command: string, { stdin }: { stdin: string }) {
      const [, nonce = ''] = /^echo (\w+)$/m.exec(stdin)!
      const [, line = ''] = /^(.*) <\/dev\/null$/m.exec(stdin)!
      const command = line.replaceAll("'", '')
      commands.push(command)
      const output = answers[command]
      const code = output === undefined ? 1 : 0
      const stdout = Buffer.from(`${nonce}\n${output ?? ''}\n\n${nonce} ${code}\n`)
      return { stdout, stderr: Buffer.from('refused'), code, signal: null, truncated: false, timedOut: false }
    },
  }
  const controllers: ControllerSessions = { use: (_ctx, _nodeId, run) => run(session as never), close() {} }
  const config = { SSH_TIMEOUT: 5, LOCAL_TARGETS: LOOPBACK }
  const handle = slurmRefreshHandler({ runtime, config, workerId: 'w', controllers, stopping: new AbortController().signal })
  const readsConfig = async (settingsReadAt: Date | null) => {
    commands = []
    const due = { settingsReadAt, nextRefreshAt: new Date(0), claimedUntil: null }
    await runtime.db.update(slurmClusters).set(due).where(eq(slurmClusters.id, id))
    await handle({ id, tenantId: tenant.id })
    expect(commands.slice(0, 2)).toEqual(['scontrol --version', 'scontrol ping'])
    return commands.includes('scontrol show config')
  }
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  expect([await readsConfig(null), await readsConfig(ago(9)), await readsConfig(ago(11))]).toEqual([true, false, true])
})
