'use client'
import { Radar } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { addressText, DiscoveryBadge, progressText } from '@/power/discovery/discovery-badge.tsx'
import { DiscoveryDialog } from '@/power/discovery/discovery-dialog.tsx'
import { BmcDiscoveriesQuery, discoveryHref } from '@/power/discovery/documents.ts'
import { usePolling } from '@/system/use-polling.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

const POLL_MS = 5000

/** Discoveries of BMCs, newest first. */
export default function BmcDiscoveriesPage() {
  useTitle(t('bmcDiscovery.title'))
  const list = useConnection('bmc-discoveries', BmcDiscoveriesQuery, {}, (data) => data.bmcDiscoveries)
  usePolling(true, () => void list.reload(), POLL_MS)
  const blockedReason = useBlockedReason('bmc:discover')
  const [isOpen, setOpen] = useState(false)
  const start = (
    <Button variant="primary" icon={<Radar aria-hidden />} blockedReason={blockedReason} onClick={() => setOpen(true)}>
      {t('bmcDiscovery.new')}
    </Button>
  )
  return (
    <>
      <PageHead
        above={
          <Link href="/power" className="hover:underline">
            {t('powerRun.title')}
          </Link>
        }
        title={t('bmcDiscovery.title')}
        count={list.total === null ? undefined : formatNumber(list.total)}
        below={<p className="text-sm text-muted">{t('bmcDiscovery.text')}</p>}
      >
        {list.rows.length > 0 && start}
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('bmcDiscovery.listFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : list.isLoading ? (
        <Skeleton className="h-48 w-full" />
      ) : list.rows.length === 0 ? (
        <Empty icon={<Radar aria-hidden />} title={t('bmcDiscovery.emptyTitle')} action={start}>
          <p>{t('bmcDiscovery.emptyText')}</p>
        </Empty>
      ) : (
        <div className="flex flex-col gap-3">
          <ul aria-label={t('bmcDiscovery.title')} className="divide-y divide-line rounded-lg border border-line bg-panel">
            {list.rows.map((discovery) => (
              <li
                key={discovery.id}
                className="relative flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm hover:bg-hover md:grid md:grid-cols-[minmax(0,1fr)_220px_100px_160px]"
              >
                <Link
                  href={discoveryHref(discovery.id)}
                  className="min-w-0 flex-1 basis-48 truncate font-mono text-xs font-medium after:absolute after:inset-0"
                >
                  {addressText(discovery)}
                </Link>
                <span className="text-xs text-muted tabular-nums">{progressText(discovery)}</span>
                <DiscoveryBadge discovery={discovery} />
                <span className="text-xs text-muted">
                  {discovery.createdBy.name} · <RelativeTime at={discovery.createdAt} />
                </span>
              </li>
            ))}
          </ul>
          {list.hasMore && (
            <Button className="self-center" onClick={list.more}>
              {t('common.loadMore')}
            </Button>
          )}
        </div>
      )}
      {isOpen && <DiscoveryDialog onClose={() => setOpen(false)} />}
    </>
  )
}
