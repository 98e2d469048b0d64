import { addSlurmCluster, slurmClusters } from '@muster/core/clusters'
import { createCredential } from '@muster/core/credentials'
import {
  type SlurmActionItem,
  type SlurmActionRow,
  slurmActionItems,
  slurmActions,
  startSlurmAction,
} from '@muster/core/slurm-actions'
import { LOOPBACK } from '@muster/core/testing'
import { createLab } from '@muster/lab/testing'
import { asc, eq, sql } from 'drizzle-orm'
import { slurmActionHandler } from '../handlers/slurm-action.ts'
import { slurmRefreshHandler } from '../handlers/slurm-refresh.ts'
import { createControllerSessions } from '../slurm/controller-sessions.ts'
import { createNodeFixture } from './node-fixture.ts'

const CONTROLLER = 'slurm-ctl-01'
export type SlurmRequest = Omit<Parameters<typeof startSlurmAction>[1], 'clusterId' | 'reason'>
export type SlurmActions = Awaited<ReturnType<typeof createSlurmActions>>

/** A lab with a real cluster, and actions on it, which this process executes. */
export async function createSlurmActions({ nodes, config = {} }: { nodes: { name: string }[]; config?: Record<string, string> }) {
  const lab = await createLab({ nodes, slurm: { config: { SlurmdTimeout: '300', ...config } } })
  const fixture = await createNodeFixture(lab)
  const { runtime, admin, bastions, stopping } = fixture
  const workerConfig = { SSH_TIMEOUT: 3, LOCAL_TARGETS: LOOPBACK }
  const controllers = createControllerSessions({ config: workerConfig, bastions, stopping: stopping.signal })
  const deps = { runtime, config: workerConfig, workerId: 'test-worker', bastions, controllers, stopping: stopping.signal }
  const handle = slurmActionHandler(deps)
  const refresh = slurmRefreshHandler(deps)
  const { username, privateKey } = lab.credentials.rootKey!
  const root = await createCredential(admin, { name: 'root', kind: 'SSH_KEY', username, privateKey })
  const controller = await fixture.addKnown(lab.node(CONTROLLER), { credentialId: root.id })
  const cluster = await addSlurmCluster(admin, { name: 'lab', controllerNodeId: controller.id })

  async function read(): Promise<void> {
    await runtime.db.update(slurmClusters).set({ nextRefreshAt: sql`now()`, claimedUntil: null })
    await refresh({ id: cluster.id, tenantId: fixture.tenant.id })
  }
  const start = (request: SlurmRequest, reason = 'test') => startSlurmAction(admin, { clusterId: cluster.id, reason, ...request })
  async function resultOf(id: string): Promise<{ row: SlurmActionRow; items: SlurmActionItem[] }> {
    const [row] = await runtime.db.select().from(slurmActions).where(eq(slurmActions.id, id))
    const items = await runtime.db
      .select()
      .from(slurmActionItems)
      .where(eq(slurmActionItems.actionId, id))
      .orderBy(asc(slurmActionItems.id))
    return { row: row!, items }
  }
  await read()
  return {
    lab,
    fixture,
    cluster,
    handle,
    read,
    start,
    resultOf,
    async run(request: SlurmRequest, reason?: string) {
      const { id, tenantId } = await start(request, reason)
      await handle({ id, tenantId })
      return resultOf(id)
    },
    async close() {
      controllers.close()
      await fixture.close()
    },
  }
}
