'use client'
import { HardDriveDownload } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useLive } from '@/graphql/use-live.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { usePolling } from '@/system/use-polling.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { BootView } from './boot-view.tsx'
import { NodeBootsQuery, NodeBootUpdated } from './documents.ts'
import { BootPreview } from './preview.tsx'

/** Whether a boot is stuck also depends on the time. */
const POLL_MS = 60_000

/** The last boots of a node, and what it would receive now. */
export function BootTab({ id }: { id: string }) {
  const [{ data, error }, refetch] = useQuery({ query: NodeBootsQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  usePolling(true, reload, POLL_MS)
  useLive(NodeBootUpdated, { id })
  const [bootId, setBootId] = useState('')
  const [isPreview, setPreview] = useState(false)
  const boots = data?.node?.__typename === 'ComputeNode' ? data.node.bootAttempts.edges.map(({ node }) => node) : null
  if (error && !boots)
    return (
      <Failure title={t('boot.loadFailed')} message={error.graphQLErrors[0]?.message ?? t('error.network')} onRetry={reload} />
    )
  if (!boots) return <Skeleton className="h-48 w-full" />
  const boot = boots.find((each) => each.id === bootId) ?? boots[0]
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap gap-2">
        {boots.length > 1 && !isPreview && (
          <FilterSelect label={t('boot.boot')} value={boot?.id ?? ''} onChange={setBootId}>
            {boots.map((each) => (
              <option key={each.id} value={each.id}>
                {formatDateTime(each.startedAt)}
              </option>
            ))}
          </FilterSelect>
        )}
        <Button onClick={() => setPreview(!isPreview)}>{t(isPreview ? 'boot.showBoots' : 'boot.showPreview')}</Button>
      </div>
      {isPreview ? (
        <BootPreview id={id} />
      ) : boot ? (
        <BootView boot={boot} />
      ) : (
        <Empty icon={<HardDriveDownload aria-hidden />} title={t('boot.emptyTitle')}>
          <p>{t('boot.emptyText')}</p>
        </Empty>
      )}
    </div>
  )
}
