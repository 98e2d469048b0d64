'use client'
import { Radar } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { BmcSearchesQuery, searchHref } from '@/power/discovery/documents.ts'
import { addressText, progressText, SearchBadge } from '@/power/discovery/search-badge.tsx'
import { SearchDialog } from '@/power/discovery/search-dialog.tsx'
import { usePolling } from '@/system/use-polling.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

const POLL_MS = 5000

/** Searches for BMCs, newest first. */
export default function BmcSearchesPage() {
  useTitle(t('bmcSearch.title'))
  const list = useConnection('bmc-searches', BmcSearchesQuery, {}, (data) => data.bmcDiscoveries)
  usePolling(true, () => void list.reload(), POLL_MS)
  const blockedReason = useBlockedReason('bmc:discover')
  const [isOpen, setOpen] = useState(false)
  const start = (
    <Button variant="primary" icon={<Radar aria-hidden />} blockedReason={blockedReason} onClick={() => setOpen(true)}>
      {t('bmcSearch.new')}
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
        title={t('bmcSearch.title')}
        count={list.total === null ? undefined : formatNumber(list.total)}
        below={<p className="text-sm text-muted">{t('bmcSearch.text')}</p>}
      >
        {list.rows.length > 0 && start}
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('bmcSearch.listFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : list.isLoading ? (
        <Skeleton className="h-48 w-full" />
      ) : list.rows.length === 0 ? (
        <Empty icon={<Radar aria-hidden />} title={t('bmcSearch.emptyTitle')} action={start}>
          <p>{t('bmcSearch.emptyText')}</p>
        </Empty>
      ) : (
        <div className="flex flex-col gap-3">
          <ul aria-label={t('bmcSearch.title')} className="divide-y divide-line rounded-lg border border-line bg-panel">
            {list.rows.map((search) => (
              <li
                key={search.id}
                className="relative flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm hover:bg-hover"
              >
                <Link
                  href={searchHref(search.id)}
                  className="min-w-0 flex-1 basis-48 truncate font-mono text-xs font-medium after:absolute after:inset-0"
                >
                  {addressText(search)}
                </Link>
                <span className="text-xs text-muted tabular-nums">{progressText(search)}</span>
                <SearchBadge search={search} />
                <span className="text-xs text-muted">
                  {search.createdBy.name} · <RelativeTime at={search.createdAt} />
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
      {isOpen && <SearchDialog onClose={() => setOpen(false)} />}
    </>
  )
}
