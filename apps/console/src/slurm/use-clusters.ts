'use client'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { type ClusterRow, ClustersQuery, ClusterUpdated } from './documents.ts'

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
  return list
}
