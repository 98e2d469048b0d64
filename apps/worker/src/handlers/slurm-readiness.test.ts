import { computeNodes } from '@muster/core/nodes'
import { checkSlurmReadiness, slurmReadinessChecks } from '@muster/core/slurm-scaling'
import { LOOPBACK, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { QueryFailure } from '../slurm/run-query.ts'
import { slurmReadinessHandler } from './slurm-readiness.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

async function started() {
  const { admin, tenant } = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(admin, 'SSH_KEY')
  const hostKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
  const nodes = await t.given.fleet(admin, { nodes: 2, with: { credentialId, hostKey } })
  await t.runtime.db
    .update(computeNodes)
    .set({ readyAt: sql`now()`, cpuSockets: 1, cpuCores: 2, cpuThreads: 2, memoryBytes: 4 * 1024 ** 3 })
    .where(eq(computeNodes.tenantId, tenant.id))
  const { id } = await checkSlurmReadiness(admin, { nodeIds: nodes.map((node) => node.id) })
  const stored = async () => (await t.runtime.db.select().from(slurmReadinessChecks).where(eq(slurmReadinessChecks.id, id)))[0]!
  const asked: string[] = []
  const handle = (use: () => Promise<never>, stopping = new AbortController().signal) =>
    slurmReadinessHandler({
      runtime: t.runtime,
      config: { SSH_TIMEOUT: 3, LOCAL_TARGETS: LOOPBACK },
      workerId: 'test-worker',
      controllers: {
        async use(_ctx, nodeId) {
          asked.push(nodeId)
          return use()
        },
        close() {},
      },
      stopping,
    })({ id, tenantId: tenant.id })
  return { id, nodes, stored, asked, handle }
}

it('ends after an unexpected error', async () => {
  const { handle, stored } = await started()
  const fail = async () => {
    throw new TypeError('x is undefined')
  }
  await expect(handle(fail)).rejects.toThrow('x is undefined')
  expect(await stored()).toMatchObject({
    error: expect.stringContaining('failed unexpectedly'),
    finishedAt: expect.any(Date),
  })
})

it('continues with the nodes that a lost worker has not checked', async () => {
  const { id, nodes, handle, stored, asked } = await started()
  const stopped = new AbortController()
  await handle(async () => {
    stopped.abort()
    throw new Error('closed')
  }, stopped.signal)
  expect(await stored()).toMatchObject({ finishedAt: null })
  const checks = [{ name: 'clock', state: 'OK' as const, message: 'equal' }]
  const [first, second] = (await stored()).nodes
  await t.runtime.db
    .update(slurmReadinessChecks)
    .set({ nodes: [{ ...first!, checks }, second!], claimedUntil: sql`now() - interval '1 s'` })
    .where(eq(slurmReadinessChecks.id, id))
  asked.length = 0
  await handle(async () => {
    throw new QueryFailure('There is no node.')
  })
  expect(asked).toEqual([nodes[1]!.id])
  expect(await stored()).toMatchObject({
    error: null,
    finishedAt: expect.any(Date),
    nodes: [{ checks }, { checks: [{ name: 'reachable', state: 'FAILED', message: 'There is no node.' }] }],
  })
})
