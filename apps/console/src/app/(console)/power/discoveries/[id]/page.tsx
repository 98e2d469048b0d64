'use client'
import { SearchX } from 'lucide-react'
import Link from 'next/link'
import { useParams } from 'next/navigation'
import { useQuery } from 'urql'
import { useLive } from '@/graphql/use-live.ts'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { BmcSearchQuery, BmcSearchUpdated, CancelBmcDiscovery } from '@/power/discovery/documents.ts'
import { FoundBmcs } from '@/power/discovery/found-bmcs.tsx'
import { addressText, progressText, SearchBadge } from '@/power/discovery/search-badge.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** One search for BMCs: progress, what it found, and their assignment to nodes. */
export default function BmcSearchPage() {
  const id = decodeURIComponent(useParams<{ id: string }>().id)
  const [{ data, error }, reload] = useQuery({ query: BmcSearchQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const search = data?.bmcDiscovery
  useTitle(search ? addressText(search) : t('bmcSearch.title'))
  useLive(BmcSearchUpdated, search && !search.finishedAt ? { id } : null)
  const cancel = useMutation(CancelBmcDiscovery)
  if (!search)
    return error ? (
      <Failure
        title={t('bmcSearch.loadFailed')}
        message={toProblem(error).message}
        onRetry={() => reload({ requestPolicy: 'network-only' })}
      />
    ) : data ? (
      <Empty
        icon={<SearchX aria-hidden />}
        title={t('bmcSearch.goneTitle')}
        action={<ButtonLink href="/power/discoveries">{t('bmcSearch.title')}</ButtonLink>}
      />
    ) : (
      <Skeleton className="h-48 w-full" />
    )
  return (
    <>
      <PageHead
        above={
          <Link href="/power/discoveries" className="hover:underline">
            {t('bmcSearch.title')}
          </Link>
        }
        title={<span className="min-w-0 truncate font-mono text-base">{addressText(search)}</span>}
        below={
          <div className="flex flex-col gap-2 text-sm">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-muted" aria-live="polite">
              <SearchBadge search={search} />
              <span className="tabular-nums">{progressText(search)}</span>
              <span>
                {search.createdBy.name} · <RelativeTime at={search.createdAt} />
              </span>
            </div>
            {!search.finishedAt && (
              <progress
                className="h-1.5 w-full accent-accent"
                aria-label={t('bmcSearch.progressLabel')}
                value={search.probedCount}
                max={search.addressCount}
              />
            )}
            {search.error && <Notice tone="bad">{search.error}</Notice>}
            {cancel.problem && <Notice tone="bad">{cancel.problem.message}</Notice>}
          </div>
        }
      >
        {!search.finishedAt && (
          <Button busy={cancel.busy || search.status === 'CANCELING'} onClick={() => void cancel.run({ id })}>
            {t('bmcSearch.cancel')}
          </Button>
        )}
      </PageHead>
      <FoundBmcs search={search} />
    </>
  )
}
