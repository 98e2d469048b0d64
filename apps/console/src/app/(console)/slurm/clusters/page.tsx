'use client'
import { Network, Plus } from 'lucide-react'
import { formatNumber, t } from '@/messages/index.ts'
import { ClusterCard } from '@/slurm/cluster-card.tsx'
import { UseBar } from '@/slurm/use-bar.tsx'
import { useClusters } from '@/slurm/use-clusters.ts'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { PageHead, Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { useTitle } from '@/ui/use-title.ts'

/** All Slurm clusters of the tenant side by side, with their totals. */
export default function ClustersPage() {
  useTitle(t('slurm.clusters'))
  const list = useClusters()
  const sum = (of: 'nodes' | 'cpus' | 'allocatedCpus' | 'gpus' | 'allocatedGpus') =>
    list.rows.reduce((all, { totals }) => all + totals[of], 0)
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
      <PageHead title={t('slurm.clusters')} count={list.total === null ? undefined : formatNumber(list.total)}>
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
          {list.rows.length > 1 && !list.hasMore && (
            <Panel title={t('slurm.totals')}>
              <div className="grid gap-4 sm:grid-cols-3">
                <div className="flex flex-col gap-1 text-xs">
                  <span className="text-muted">{t('slurm.nodes')}</span>
                  <span className="text-base font-semibold tabular-nums">{formatNumber(sum('nodes'))}</span>
                </div>
                <UseBar label={t('slurm.cpus')} used={sum('allocatedCpus')} total={sum('cpus')} />
                <UseBar label={t('slurm.gpus')} used={sum('allocatedGpus')} total={sum('gpus')} none={t('slurm.noGpus')} />
              </div>
            </Panel>
          )}
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
