import { addSlurmCluster, claimSlurmRefresh, releaseSlurmRefresh, slurmClusters } from '@muster/core/clusters'
import { addNode } from '@muster/core/nodes'
import { LOOPBACK, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ControllerSessions } from '../slurm/controller-sessions.ts'
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
