import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { localStore } from '@muster/core/artifacts'
import {
  addSlurmCluster,
  refreshSlurmCluster,
  type SlurmCluster,
  type SlurmLookup,
  slurmClusters,
  slurmJobs,
  slurmLookups,
  slurmNodes,
  slurmPartitions,
  testSlurmController,
} from '@muster/core/clusters'
import { createListener } from '@muster/core/events'
import { type ComputeNode, updateNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { claimJobRun } from '@muster/core/run-queue'
import { slurmActions, startSlurmAction } from '@muster/core/slurm-actions'
import { type SlurmOperation, slurmOperations } from '@muster/core/slurm-operations'
import { LOOPBACK } from '@muster/core/testing'
import type { OwnedLab } from '@muster/lab'
import { asc, eq, isNull } from 'drizzle-orm'
import { executeRun } from '../ansible/execute-run.ts'
import { noIsolation } from '../ansible/isolation/isolation.ts'
import { slurmActionHandler } from '../handlers/slurm-action.ts'
import { slurmClusterTestHandler } from '../handlers/slurm-cluster-test.ts'
import { slurmLookupHandler } from '../handlers/slurm-lookup.ts'
import { slurmOperationHandler } from '../handlers/slurm-operation.ts'
import { slurmReadinessHandler } from '../handlers/slurm-readiness.ts'
import { slurmRefreshHandler } from '../handlers/slurm-refresh.ts'
import { createControllerSessions } from '../slurm/controller-sessions.ts'
import { createNodeFixture } from './node-fixture.ts'
import { PLAYBOOKS, realAnsible } from './run-fixture.ts'

/** Refreshes end after this time, so that tests of hanging commands are short. */
const QUERY_TIMEOUT_MS = 5000

/** A database, and a worker's refresh of clusters. All nodes of the lab are added with pinned host keys. */
export async function createSlurmFixture(lab: OwnedLab, { queryTimeoutMs = QUERY_TIMEOUT_MS } = {}) {
  const config = { SSH_TIMEOUT: 3, LOCAL_TARGETS: LOOPBACK }
  const fixture = await createNodeFixture(lab, config)
  const { jobRuns } = schema
  const { runtime, admin, bastions, stopping, tenant } = fixture
  const { db } = runtime
  const controllers = createControllerSessions({ config, bastions, stopping: stopping.signal })
  const deps = { runtime, config, workerId: 'test-worker', bastions, controllers, stopping: stopping.signal }
  const handle = slurmRefreshHandler({ ...deps, queryTimeoutMs })
  const lookUp = slurmLookupHandler({ ...deps, queryTimeoutMs })
  const nodes = new Map<string, ComputeNode>()
  for (const node of lab.nodes) nodes.set(node.name, await fixture.addKnown(node))
  const nodeId = (name: string): string => nodes.get(name)!.id
  const clusterOf = async (id: string): Promise<SlurmCluster> =>
    (await db.select().from(slurmClusters).where(eq(slurmClusters.id, id)))[0]!
  const listener = await createListener(fixture.url, runtime.log)
  const root = await mkdtemp(path.join(tmpdir(), 'muster-slurm-'))
  const executor = {
    config: {
      ...{ ANSIBLE_WORK_DIR: path.join(root, 'work'), ANSIBLE_PLAYBOOK_REPO_PATH: PLAYBOOKS, ANSIBLE_PLAYBOOK: realAnsible() },
      ...{ JOB_CANCEL_GRACE_PERIOD: 8, SSH_TIMEOUT: 10, ARTIFACT_MAX_SIZE: 1, LOCAL_TARGETS: LOOPBACK },
    },
    store: localStore(path.join(root, 'artifacts')),
    isolation: noIsolation(null),
    listener,
    stopping: stopping.signal,
  }
  async function executeRuns(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      const [pending] = await db.select().from(jobRuns).where(isNull(jobRuns.startedAt)).limit(1)
      const claim = pending && (await claimJobRun(fixture.worker, { id: pending.id, workerId: 'worker-1', token: randomUUID() }))
      if (claim) await executeRun(executor, fixture.worker, claim)
      else await setTimeout(50)
    }
  }
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
    /** The stored cluster, without a refresh. */
    read: ({ id }: { id: string }): Promise<SlurmCluster> => clusterOf(id),
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
    /** Executes a lookup. @returns it afterwards */
    async lookUp({ id }: { id: string }): Promise<SlurmLookup> {
      await lookUp({ id, tenantId: tenant.id })
      return (await db.select().from(slurmLookups).where(eq(slurmLookups.id, id)))[0]!
    },
    /** Executes a check of nodes. */
    checkReadiness: ({ id }: { id: string }) => slurmReadinessHandler(deps)({ id, tenantId: tenant.id }),
    /** Executes an operation on a cluster, and the job runs that it starts. @returns the operation afterwards */
    async operate({ id }: { id: string }): Promise<SlurmOperation> {
      const done = slurmOperationHandler(deps)({ id, tenantId: tenant.id })
      let isDone = false
      const ended = done.finally(() => {
        isDone = true
      })
      const runs = executeRuns(() => isDone)
      await Promise.all([ended, runs])
      return (await db.select().from(slurmOperations).where(eq(slurmOperations.id, id)))[0]!
    },
    async close() {
      controllers.close()
      await listener.close()
      await fixture.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
export type SlurmFixture = Awaited<ReturnType<typeof createSlurmFixture>>
