'use client'
import { SearchX } from 'lucide-react'
import Link from 'next/link'
import { useParams } from 'next/navigation'
import { useQuery } from 'urql'
import { useLive } from '@/graphql/use-live.ts'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { addressText, DiscoveryBadge, progressText } from '@/power/discovery/discovery-badge.tsx'
import { BmcDiscoveryQuery, BmcDiscoveryUpdated, CancelBmcDiscovery } from '@/power/discovery/documents.ts'
import { FoundBmcs } from '@/power/discovery/found-bmcs.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** One discovery of BMCs: progress, what it found, and their assignment to nodes. */
export default function BmcDiscoveryPage() {
  const id = decodeURIComponent(useParams<{ id: string }>().id)
  const [{ data, error }, reload] = useQuery({ query: BmcDiscoveryQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const discovery = data?.bmcDiscovery
  useTitle(discovery ? addressText(discovery) : t('bmcDiscovery.title'))
  useLive(BmcDiscoveryUpdated, discovery && !discovery.finishedAt ? { id } : null)
  const cancel = useMutation(CancelBmcDiscovery)
  if (!discovery)
    return error ? (
      <Failure
        title={t('bmcDiscovery.loadFailed')}
        message={toProblem(error).message}
        onRetry={() => reload({ requestPolicy: 'network-only' })}
      />
    ) : data ? (
      <Empty
        icon={<SearchX aria-hidden />}
        title={t('bmcDiscovery.goneTitle')}
        action={<ButtonLink href="/power/discoveries">{t('bmcDiscovery.title')}</ButtonLink>}
      />
    ) : (
      <Skeleton className="h-48 w-full" />
    )
  return (
    <>
      <PageHead
        above={
          <Link href="/power/discoveries" className="hover:underline">
            {t('bmcDiscovery.title')}
          </Link>
        }
        title={<span className="min-w-0 truncate font-mono text-base">{addressText(discovery)}</span>}
        below={
          <div className="flex flex-col gap-2 text-sm">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-muted" aria-live="polite">
              <DiscoveryBadge discovery={discovery} />
              <span className="tabular-nums">{progressText(discovery)}</span>
              <span>
                {discovery.createdBy.name} · <RelativeTime at={discovery.createdAt} />
              </span>
            </div>
            {!discovery.finishedAt && (
              <progress
                className="h-1.5 w-full accent-accent"
                aria-label={t('bmcDiscovery.progressLabel')}
                value={discovery.probedCount}
                max={discovery.addressCount}
              />
            )}
            {discovery.error && <Notice tone="bad">{discovery.error}</Notice>}
            {cancel.problem && <Notice tone="bad">{cancel.problem.message}</Notice>}
          </div>
        }
      >
        {!discovery.finishedAt && (
          <Button busy={cancel.busy || discovery.status === 'CANCELING'} onClick={() => void cancel.run({ id })}>
            {t('bmcDiscovery.cancel')}
          </Button>
        )}
      </PageHead>
      <FoundBmcs discovery={discovery} />
    </>
  )
}
