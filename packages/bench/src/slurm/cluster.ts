import type { Client } from '../client.ts'
import type { ResultOf } from '../graphql.ts'
import { ADD_CLUSTER, CLUSTER, CLUSTER_UPDATED, REFRESH_CLUSTER } from './documents.ts'

export type ClusterData = NonNullable<ResultOf<typeof CLUSTER>['slurmCluster']>

/** Adds a cluster and waits for its first data. @returns its ID @throws Error when it cannot be read */
export async function addCluster(api: Client, name: string, controllerNodeId: string): Promise<string> {
  const { id } = (await api.mutate(ADD_CLUSTER, { input: { name, controllerNodeId } })).slurmCluster
  await waitForData(api, id, { refreshedAt: null, failureCount: 0 })
  return id
}

/** Reads a cluster at once, with its configuration. @throws Error when it cannot be read */
export async function refreshCluster(api: Client, id: string): Promise<void> {
  const { slurmCluster } = await api.mutate(REFRESH_CLUSTER, { id })
  await waitForData(api, id, slurmCluster)
}

async function waitForData(api: Client, id: string, before: Pick<ClusterData, 'refreshedAt' | 'failureCount'>): Promise<void> {
  for await (const { slurmClusterUpdated: after } of api.subscribe(CLUSTER_UPDATED, { id })) {
    if (after.failureCount > before.failureCount) throw new Error(`The cluster cannot be read: ${after.lastError}`)
    if (after.refreshedAt !== before.refreshedAt) return
  }
}

/** State and totals of a cluster. @throws Error when it does not exist */
export async function readCluster(api: Client, id: string): Promise<ClusterData> {
  const { slurmCluster } = await api.request(CLUSTER, { id })
  if (!slurmCluster) throw new Error(`There is no cluster ${id}.`)
  return slurmCluster
}
