'use client'
import { Network } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { formatNumber, t } from '@/messages/index.ts'
import { ClusterActions } from '@/slurm/cluster-actions.tsx'
import { ClusterCard } from '@/slurm/cluster-card.tsx'
import { ConnectForm } from '@/slurm/connect/connect-form.tsx'
import { useClusters } from '@/slurm/use-clusters.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'

/** External clusters: connect one, and refresh, edit or remove those that are connected. */
export default function ExternalClustersPage() {
  useTitle(t('slurm.external'))
  const list = useClusters('EXTERNAL')
  const [isOpen, setOpen] = useState<boolean | null>(null)
  const hasNone = !list.isLoading && !list.problem && list.rows.length === 0
  const showsForm = isOpen ?? hasNone
  return (
    <>
      <PageHead
        above={
          <Link href="/slurm/clusters" className="hover:underline">
            {t('slurm.clusters')}
          </Link>
        }
        title={t('slurm.external')}
        count={list.total === null ? undefined : formatNumber(list.total)}
        below={<p className="text-sm text-muted">{t('slurm.externalText')}</p>}
      >
        {!showsForm && (
          <Button variant="primary" onClick={() => setOpen(true)}>
            {t('slurm.addExternal')}
          </Button>
        )}
      </PageHead>
      <div className="flex flex-col gap-6">
        {showsForm && (
          <div className="max-w-3xl">
            <ConnectForm
              onAdded={(cluster) => {
                setOpen(false)
                toast('ok', t('slurmConnect.added', { name: cluster.name }))
                void list.reload()
              }}
            />
          </div>
        )}
        {list.problem && list.rows.length === 0 ? (
          <Failure title={t('slurm.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
        ) : list.isLoading ? (
          <Skeleton className="h-48 w-full" />
        ) : hasNone ? (
          !showsForm && (
            <Empty icon={<Network aria-hidden />} title={t('slurm.emptyTitle')}>
              <p>{t('slurm.emptyText')}</p>
            </Empty>
          )
        ) : (
          <ul className="grid gap-4 md:grid-cols-2 xl:grid-cols-3" aria-label={t('slurm.external')}>
            {list.rows.map((cluster) => (
              <ClusterCard
                key={cluster.id}
                cluster={cluster}
                actions={<ClusterActions cluster={cluster} onRemoved={() => void list.reload()} />}
              />
            ))}
          </ul>
        )}
        {list.hasMore && (
          <div className="flex justify-center">
            <Button onClick={list.more}>{t('common.loadMore')}</Button>
          </div>
        )}
      </div>
    </>
  )
}
