'use client'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { usePolling } from '@/system/use-polling.ts'
import { type ClusterRow, ClustersQuery, ClusterUpdated } from './documents.ts'

/** A removal emits nothing, so the list is also read at this interval. */
const RELOAD_MS = 30_000

/** Clusters of one kind, or all, with live updates. */
export function useClusters(kind?: ClusterRow['kind']) {
  const list = useConnection(
    'slurm-clusters',
    ClustersQuery,
    { filter: kind ? { kind: [kind] } : {} },
    (data) => data.slurmClusters,
  )
  useLive(ClusterUpdated, {}, ({ slurmClusterUpdated }) => {
    if (!list.patch(slurmClusterUpdated)) list.reloadDebounced()
  })
  usePolling(true, () => void list.reload(), RELOAD_MS)
  return list
}
