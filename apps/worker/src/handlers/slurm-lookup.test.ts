import { addSlurmCluster, lookUpSlurmJobs, type SlurmLookupRequest, slurmLookups } from '@muster/core/clusters'
import { addNode } from '@muster/core/nodes'
import { LOOPBACK, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { ControllerSessions } from '../slurm/controller-sessions.ts'
import type { ExecOptions, ExecResult } from '../ssh/exec.ts'
import { slurmLookupHandler } from './slurm-lookup.ts'

let fixture: TestRuntime
beforeAll(async () => {
  fixture = await testRuntime()
})
afterAll(() => fixture.close())

/** A cluster with two hosts that answer each command with `exec`. */
async function lookupFixture(exec: (command: string, options: ExecOptions) => Promise<string>) {
  const { runtime, given } = fixture
  const { admin, tenant } = await given.tenant()
  const nodes = []
  for (const name of ['ctl-1', 'ctl-2']) nodes.push(await addNode(admin, { name, host: name, connectionType: 'local' }))
  const [controllerNodeId, backupNodeId] = nodes.map(({ id }) => id)
  const cluster = await addSlurmCluster(admin, { name: 'lab', controllerNodeId: controllerNodeId!, backupNodeId: backupNodeId! })
  const session = {
    async exec(_command: string, options: ExecOptions): Promise<ExecResult> {
      const script = String(options.stdin)
      const [, nonce = ''] = /^echo (\w+)$/m.exec(script)!
      const [, command = ''] = /^(.*) <\/dev\/null$/m.exec(script)!
      const stdout = Buffer.from(`${nonce}\n${await exec(command.replaceAll("'", ''), options)}\n${nonce} 0\n`)
      return { stdout, stderr: Buffer.from(''), code: 0, signal: null, truncated: false, timedOut: false }
    },
  }
  const controllers: ControllerSessions = { use: (_ctx, _nodeId, run) => run(session as never), close() {} }
  const config = { SSH_TIMEOUT: 5, LOCAL_TARGETS: LOOPBACK }
  const deps = { runtime, config, workerId: 'w', controllers, stopping: new AbortController().signal }
  const read = async (id: string) => (await runtime.db.select().from(slurmLookups).where(eq(slurmLookups.id, id)))[0]!
  return {
    deps,
    read,
    isOf: (tenantId: string | null) => tenantId === tenant.id,
    entryOf: ({ id }: { id: string }) => ({ id, tenantId: tenant.id }),
    request: () => lookUpSlurmJobs(admin, { clusterId: cluster.id, jobId: '1' }),
    async insert(request: SlurmLookupRequest) {
      const [lookup] = await runtime.db
        .insert(slurmLookups)
        .values({ tenantId: tenant.id, clusterId: cluster.id, request })
        .returning()
      return lookup!
    },
  }
}

it('claims a lookup when it may run, two of a cluster at once', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let running = 0
  const { deps, read, request, entryOf } = await lookupFixture(async () => {
    running++
    await released
    return ''
  })
  const other = await lookupFixture(async () => '')
  const use: ControllerSessions['use'] = (ctx, nodeId, run) =>
    (other.isOf(ctx.tenantId) ? other.deps : deps).controllers.use(ctx, nodeId, run)
  const handle = slurmLookupHandler({ ...deps, controllers: { use, close() {} } })
  const lookups = [await request(), await request(), await request()]
  const first = lookups.slice(0, 2).map((lookup) => handle(entryOf(lookup)))
  await vi.waitFor(() => expect(running).toBe(2), { timeout: 20_000 })
  const last = handle(entryOf(lookups[2]!))
  // A lookup in another cluster begins later and does not wait.
  await handle(other.entryOf(await other.request()))
  expect([running, (await read(lookups[2]!.id)).startedAt]).toEqual([2, null])
  release()
  await Promise.all([...first, last])
  for (const { id } of lookups) expect(await read(id)).toMatchObject({ error: null, result: { jobs: [] } })
})

it('ends at its deadline, without the second host', async () => {
  let commands = 0
  const { deps, read, request, entryOf } = await lookupFixture((_command, { signal }) => {
    commands++
    return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
  })
  const lookup = await request()
  await slurmLookupHandler({ ...deps, deadlineMs: 50 })(entryOf(lookup))
  expect(await read(lookup.id)).toMatchObject({ result: null, error: 'The lookup took too long. Try again.' })
  expect(commands).toBe(1)
})

it('ends with a general reason after an unexpected error, which it throws', async () => {
  const { deps, read, request, entryOf } = await lookupFixture(async () => {
    throw new TypeError('secret')
  })
  const lookup = await request()
  await expect(slurmLookupHandler(deps)(entryOf(lookup))).rejects.toThrow('secret')
  const { error, finishedAt } = await read(lookup.id)
  expect(error).toBe('The lookup failed unexpectedly. The log of the worker has the reason. Try again.')
  expect(finishedAt).not.toBeNull()
})

it('asks for shares of names that a command accepts only', async () => {
  const commands: string[] = []
  const { deps, read, insert, entryOf } = await lookupFixture(async (command) => {
    commands.push(command)
    return ''
  })
  const priority = { kind: 'PRIORITY', jobId: '7' } as const
  for (const names of [
    { user: 'DOM\\alice', account: 'ml' },
    { user: 'a b', account: 'ml' },
    { user: 'alice', account: 'm,l' },
  ]) {
    const lookup = await insert({ ...priority, ...names })
    await slurmLookupHandler(deps)(entryOf(lookup))
    expect(await read(lookup.id)).toMatchObject({ error: null, result: { priorities: [], shares: [] } })
  }
  expect(commands.map((command) => command.split(' ')[0])).toEqual(['sprio', 'sshare', 'sprio', 'sprio'])
  expect(commands[1]).toContain('--users=DOM\\alice --accounts=ml')
})
