import {
  addSlurmCluster,
  refreshSlurmCluster,
  type SlurmCluster,
  slurmClusters,
  slurmJobs,
  slurmNodes,
  slurmPartitions,
  testSlurmController,
} from '@muster/core/clusters'
import { type ComputeNode, updateNode } from '@muster/core/nodes'
import { slurmActions, startSlurmAction } from '@muster/core/slurm-actions'
import { LOOPBACK } from '@muster/core/testing'
import type { OwnedLab } from '@muster/lab'
import { asc, eq } from 'drizzle-orm'
import { slurmActionHandler } from '../handlers/slurm-action.ts'
import { slurmClusterTestHandler } from '../handlers/slurm-cluster-test.ts'
import { slurmRefreshHandler } from '../handlers/slurm-refresh.ts'
import { createControllerSessions } from '../slurm/controller-sessions.ts'
import { createNodeFixture } from './node-fixture.ts'

/** Refreshes end after this time, so that tests of hanging commands are short. */
const QUERY_TIMEOUT_MS = 5000

/** A database, and a worker's refresh of clusters. All nodes of the lab are added with pinned host keys. */
export async function createSlurmFixture(lab: OwnedLab) {
  const config = { SSH_TIMEOUT: 3, LOCAL_TARGETS: LOOPBACK }
  const fixture = await createNodeFixture(lab, config)
  const { runtime, admin, bastions, stopping, tenant } = fixture
  const { db } = runtime
  const controllers = createControllerSessions({ config, bastions, stopping: stopping.signal })
  const deps = { runtime, config, workerId: 'test-worker', bastions, controllers, stopping: stopping.signal }
  const handle = slurmRefreshHandler({ ...deps, queryTimeoutMs: QUERY_TIMEOUT_MS })
  const nodes = new Map<string, ComputeNode>()
  for (const node of lab.nodes) nodes.set(node.name, await fixture.addKnown(node))
  const nodeId = (name: string): string => nodes.get(name)!.id
  const clusterOf = async (id: string): Promise<SlurmCluster> =>
    (await db.select().from(slurmClusters).where(eq(slurmClusters.id, id)))[0]!
  return {
    ...fixture,
    nodeId,
    /** Adds a cluster and reads it once. */
    async adopt(controller: string, fields: Partial<Parameters<typeof addSlurmCluster>[1]> = {}): Promise<SlurmCluster> {
      const { id } = await addSlurmCluster(admin, { name: controller, controllerNodeId: nodeId(controller), ...fields })
      await handle({ id, tenantId: tenant.id })
      return clusterOf(id)
    },
    /** Reads a cluster with its settings. @returns the cluster afterwards */
    async refresh({ id }: { id: string }): Promise<SlurmCluster> {
      await refreshSlurmCluster(admin, { id })
      await handle({ id, tenantId: tenant.id })
      return clusterOf(id)
    },
    /** What is stored of the cluster's nodes, partitions and jobs. */
    async stored({ id }: { id: string }) {
      const nodeRows = await db.select().from(slurmNodes).where(eq(slurmNodes.clusterId, id)).orderBy(asc(slurmNodes.name))
      const partitions = await db
        .select()
        .from(slurmPartitions)
        .where(eq(slurmPartitions.clusterId, id))
        .orderBy(asc(slurmPartitions.name))
      const jobs = await db.select().from(slurmJobs).where(eq(slurmJobs.clusterId, id)).orderBy(asc(slurmJobs.jobId))
      return { nodes: nodeRows, partitions, jobs }
    },
    /** Makes the next refresh log in anew, with another credential. */
    async logInWith(name: string, credentialId: string): Promise<void> {
      await updateNode(admin, { id: nodeId(name), credentialId })
      controllers.close()
    },
    /** Tests the connection to a controller's host. */
    async testController(name: string): Promise<void> {
      const { id } = await testSlurmController(admin, { nodeId: nodeId(name) })
      await slurmClusterTestHandler(deps)({ id, tenantId: tenant.id })
    },
    /** Starts an action and executes it. Throws unless it succeeds. */
    async act(
      { id }: { id: string },
      request: Omit<Parameters<typeof startSlurmAction>[1], 'clusterId' | 'reason'>,
    ): Promise<void> {
      const action = await startSlurmAction(admin, { clusterId: id, reason: 'test', ...request })
      await slurmActionHandler(deps)({ id: action.id, tenantId: tenant.id })
      const [{ status } = { status: null }] = await db.select().from(slurmActions).where(eq(slurmActions.id, action.id))
      if (status !== 'SUCCEEDED') throw new Error(`The action ${request.verb} has the status ${status}.`)
    },
    async close() {
      controllers.close()
      await fixture.close()
    },
  }
}
export type SlurmFixture = Awaited<ReturnType<typeof createSlurmFixture>>
