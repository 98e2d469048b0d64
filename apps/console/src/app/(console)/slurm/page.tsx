'use client'
import { Network, Plus } from 'lucide-react'
import { useQuery } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { TotalsQuery } from '@/slurm/federation/documents.ts'
import { GpuModels } from '@/slurm/federation/gpu-models.tsx'
import { RegionList } from '@/slurm/federation/region-list.tsx'
import { StartEstimates } from '@/slurm/federation/start-estimates.tsx'
import { TotalsPanel } from '@/slurm/federation/totals-panel.tsx'
import { useClusters } from '@/slurm/use-clusters.ts'
import { usePolling } from '@/system/use-polling.ts'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** Clusters are refreshed in this interval. */
const RELOAD_MS = 30_000

/** All Slurm clusters together: totals, regions, idle GPUs by model, and where a job would start first. */
export default function SlurmOverviewPage() {
  useTitle(t('slurmOverview.title'))
  const list = useClusters()
  const [{ data, error }, refetch] = useQuery({ query: TotalsQuery, requestPolicy: 'cache-and-network' })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  usePolling(true, reload, RELOAD_MS)
  const totals = data?.slurmTotals
  const problem = (error && !totals ? toProblem(error) : null) ?? (list.rows.length === 0 ? list.problem : null)
  return (
    <>
      <PageHead title={t('slurmOverview.title')}>
        <ButtonLink href="/slurm/snippets">{t('slurmSnippet.title')}</ButtonLink>
        <ButtonLink href="/slurm/clusters">{t('slurm.clusters')}</ButtonLink>
      </PageHead>
      {problem ? (
        <Failure
          title={t('slurm.loadFailed')}
          message={problem.message}
          onRetry={() => {
            reload()
            void list.reload()
          }}
        />
      ) : !totals || list.isLoading ? (
        <div className="flex flex-col gap-4">
          <Skeleton className="h-32 w-full" />
          <Skeleton className="h-64 w-full" />
        </div>
      ) : totals.clusters === 0 ? (
        <Empty
          icon={<Network aria-hidden />}
          title={t('slurm.emptyTitle')}
          action={
            <>
              <ButtonLink href="/slurm/clusters/new" icon={<Plus aria-hidden />}>
                {t('slurmScale.create')}
              </ButtonLink>
              <ButtonLink href="/slurm/external-clusters" variant="primary" icon={<Plus aria-hidden />}>
                {t('slurm.addExternal')}
              </ButtonLink>
            </>
          }
        >
          <p>{t('slurm.emptyText')}</p>
        </Empty>
      ) : (
        <div className="flex flex-col gap-4">
          <TotalsPanel totals={totals} />
          <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
            <StartEstimates
              gpuModels={totals.gpuModels.map(({ model }) => model)}
              skipped={data.outdated.edges.map(({ node }) => node.name)}
            />
            <GpuModels models={totals.gpuModels} />
          </div>
          <RegionList regions={totals.regions} clusters={list.rows} />
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
