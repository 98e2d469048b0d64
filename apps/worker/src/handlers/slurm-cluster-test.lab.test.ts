import {
  failStalledSlurmTests,
  type QueryReport,
  type SlurmClusterTest,
  slurmClusterTests,
  testSlurmController,
} from '@muster/core/clusters'
import { systemCtx } from '@muster/core/context'
import { createCredential } from '@muster/core/credentials'
import { updateNode } from '@muster/core/nodes'
import { LOOPBACK } from '@muster/core/testing'
import { canRunSlurm, type OwnedLab } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createNodeFixture } from '../testing/node-fixture.ts'
import { startSlurmrestd } from '../testing/slurmrestd.ts'
import { slurmClusterTestHandler } from './slurm-cluster-test.ts'

describe.runIf(canRunSlurm())('the test of a controller', () => {
  let lab: OwnedLab
  let fixture: Awaited<ReturnType<typeof createNodeFixture>>
  let nodeId: string
  beforeAll(async () => {
    const config = { SSH_TIMEOUT: 3, LOCAL_TARGETS: LOOPBACK }
    lab = await createLab({ nodes: [{ name: 'gpu-01', profile: 'h100x8' }], slurm: {} })
    await lab.slurm!.ready()
    fixture = await createNodeFixture(lab, config)
    nodeId = (await fixture.addKnown(lab.slurm!.controllers[0]!)).id
  })
  afterAll(() => fixture?.close())
  afterEach(() => lab.heal())

  async function run(fields: { slurmrestdSocket?: string } = {}): Promise<SlurmClusterTest> {
    const { runtime, admin, bastions, stopping, tenant } = fixture
    const config = { SSH_TIMEOUT: 3, LOCAL_TARGETS: LOOPBACK }
    const { id } = await testSlurmController(admin, { nodeId, ...fields })
    const deps = { runtime, config, workerId: 'test-worker', bastions, stopping: stopping.signal }
    await slurmClusterTestHandler(deps)({ id, tenantId: tenant.id })
    const [row] = await runtime.db.select().from(slurmClusterTests).where(eq(slurmClusterTests.id, id))
    return row!
  }
  const statesOf = ({ queries }: { queries: QueryReport[] }) =>
    Object.fromEntries(queries.map(({ query, state }) => [query, state]))

  test('reports each command, and what the cluster has', async () => {
    const result = await run()
    expect(result).toMatchObject({
      isOk: true,
      error: null,
      preview: {
        clusterName: 'lab',
        version: '22.05.8',
        controllers: [{ role: 'primary', hostname: 'slurm-ctl-01', isUp: true }],
        nodes: 1,
        gpus: 8,
        jobs: 0,
        partitions: ['batch', 'gpu'],
      },
    })
    expect(result.queries.map(({ query, state }) => `${query} ${state}`)).toEqual([
      'login OK',
      'munge OK',
      'clock OK',
      'version OK',
      'controllers OK',
      'config OK',
      'nodes OK',
      'partitions OK',
      'reservations OK',
      'jobs OK',
      'scheduler OK',
      'licenses OK',
      'accounting SKIPPED',
      'rights OK',
    ])
    expect(result.queries.at(-1)).toMatchObject({ exitCode: 0, detail: expect.stringContaining('ordinary user') })
  })

  test('asks slurmrestd, and passes when only it fails', async () => {
    const stop = await startSlurmrestd(lab, 'unix:/tmp/slurmrestd.socket', { plugins: ['openapi/v0.0.38'] })
    const found = await run({ slurmrestdSocket: '/tmp/slurmrestd.socket' })
    await stop()
    expect(found).toMatchObject({ isOk: true, preview: { nodes: 1, gpus: 8 } })
    expect(statesOf(found)).toMatchObject({ nodes: 'OK', slurmrestd: 'OK' })
    const stopped = await run({ slurmrestdSocket: '/tmp/slurmrestd.socket' })
    expect(stopped).toMatchObject({ isOk: true, preview: { nodes: 1, gpus: 8 } })
    expect(stopped.queries.find(({ query }) => query === 'slurmrestd')).toMatchObject({
      state: 'FAILED',
      hint: expect.stringContaining('Check that slurmrestd runs'),
    })
  })

  test('changes no file and no setting of the host', async () => {
    const script =
      'find /etc/slurm /etc/munge /var/spool/slurmctld/clustername -type f -exec sha256sum {} +; scontrol show config | grep -v "^Configuration data as of"'
    const state = async () => (await lab.slurm!.run(['sh', '-c', script])).stdout
    const before = await state()
    expect(before).toContain('slurm.conf')
    await run()
    expect(await state()).toBe(before)
  })

  test('skips what cannot work', async () => {
    await lab.fault('slurm-ctl-01', 'broken-slurm-conf', {})
    const result = await run()
    expect(result).toMatchObject({ isOk: false, preview: null, error: expect.stringContaining('NoSuchKey') })
    expect(statesOf(result)).toMatchObject({
      login: 'OK',
      munge: 'OK',
      jobs: 'SKIPPED',
      accounting: 'SKIPPED',
      rights: 'SKIPPED',
    })
  })

  test('says why the login failed', async () => {
    const { sshKey } = lab.credentials
    const other = await createCredential(fixture.admin, {
      ...{ name: 'other', kind: 'SSH_KEY', username: 'nobody-here', privateKey: sshKey.privateKey },
    })
    await updateNode(fixture.admin, { id: nodeId, credentialId: other.id })
    const result = await run()
    expect(result).toMatchObject({ isOk: false, error: expect.stringMatching(/rejects this ssh-ed25519 key of nobody-here/) })
    expect(result.queries[0]).toMatchObject({ query: 'login', state: 'FAILED', detail: expect.any(String) })
    expect(new Set(result.queries.slice(1).map(({ state }) => state))).toEqual(new Set(['SKIPPED']))
    await updateNode(fixture.admin, { id: nodeId, credentialId: fixture.key.id })
  })

  test('ends when its worker was lost', async () => {
    const { runtime, admin } = fixture
    const { id } = await testSlurmController(admin, { nodeId })
    const read = async () => (await runtime.db.select().from(slurmClusterTests).where(eq(slurmClusterTests.id, id)))[0]!
    await failStalledSlurmTests(systemCtx(runtime))
    expect(await read()).toMatchObject({ finishedAt: null })
    await runtime.db
      .update(slurmClusterTests)
      .set({ startedAt: sql`now() - interval '11 minutes'` })
      .where(eq(slurmClusterTests.id, id))
    await failStalledSlurmTests(systemCtx(runtime))
    expect(await read()).toMatchObject({ isOk: false, error: 'The worker was lost during the test. Try again.' })
  })
})
