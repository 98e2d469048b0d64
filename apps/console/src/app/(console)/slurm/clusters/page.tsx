'use client'
import { Network, Plus } from 'lucide-react'
import Link from 'next/link'
import { formatNumber, t } from '@/messages/index.ts'
import { ClusterCard } from '@/slurm/cluster-card.tsx'
import { useClusters } from '@/slurm/use-clusters.ts'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** All Slurm clusters of the tenant. */
export default function ClustersPage() {
  useTitle(t('slurm.clusters'))
  const list = useClusters()
  const add = (
    <>
      <ButtonLink href="/slurm/clusters/new" icon={<Plus aria-hidden />}>
        {t('slurmScale.create')}
      </ButtonLink>
      <ButtonLink href="/slurm/external-clusters" variant="primary" icon={<Plus aria-hidden />}>
        {t('slurm.addExternal')}
      </ButtonLink>
    </>
  )
  return (
    <>
      <PageHead
        above={
          <Link href="/slurm" className="hover:underline">
            {t('slurmOverview.title')}
          </Link>
        }
        title={t('slurm.clusters')}
        count={list.total === null ? undefined : formatNumber(list.total)}
      >
        {add}
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('slurm.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : list.isLoading ? (
        <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
          <Skeleton className="h-48 w-full" />
          <Skeleton className="h-48 w-full" />
        </div>
      ) : list.rows.length === 0 ? (
        <Empty icon={<Network aria-hidden />} title={t('slurm.emptyTitle')} action={add}>
          <p>{t('slurm.emptyText')}</p>
        </Empty>
      ) : (
        <div className="flex flex-col gap-4">
          <ul className="grid gap-4 md:grid-cols-2 xl:grid-cols-3" aria-label={t('slurm.clusters')}>
            {list.rows.map((cluster) => (
              <ClusterCard key={cluster.id} cluster={cluster} />
            ))}
          </ul>
          {list.hasMore && (
            <div className="flex justify-center">
              <Button onClick={list.more}>{t('common.loadMore')}</Button>
            </div>
          )}
        </div>
      )}
    </>
  )
}
