'use client'
import { useEffect, useRef, useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { toast } from '@/ui/toast.tsx'
import { type ClusterRow, RefreshCluster } from './documents.ts'

/** Identifies the last refresh that ended. */
const lastOf = ({ refreshedAt, failureCount }: ClusterRow): string => `${refreshedAt} ${failureCount}`

/** Reads a cluster at once; busy until that refresh has ended, whose result is announced. */
export function useRefresh(cluster: ClusterRow) {
  const mutation = useMutation(RefreshCluster)
  const [before, setBefore] = useState<string | null>(null)
  const startedAt = useRef(0)
  const isDone = before !== null && before !== lastOf(cluster)
  useEffect(() => {
    if (!isDone) return
    setBefore(null)
    if (cluster.lastError) toast('bad', t('slurm.refreshFailed', { name: cluster.name, reason: cluster.lastError }))
    else toast('ok', t('slurm.refreshFinished', { name: cluster.name, duration: formatDuration(Date.now() - startedAt.current) }))
  }, [isDone, cluster])
  async function refresh() {
    startedAt.current = Date.now()
    setBefore(lastOf(cluster))
    const outcome = await mutation.run({ id: cluster.id })
    if (outcome.ok) return
    setBefore(null)
    toast('bad', outcome.problem.message)
  }
  return { refresh: () => void refresh(), isRefreshing: before !== null }
}
