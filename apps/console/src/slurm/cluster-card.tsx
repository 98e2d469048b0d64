import Link from 'next/link'
import type { ReactNode } from 'react'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { ClusterState, DataAge } from './badges.tsx'
import type { ClusterRow } from './documents.ts'
import { UseBar } from './use-bar.tsx'

export const clusterHref = (id: string): string => `/slurm/clusters/${encodeURIComponent(id)}`

const countOf = (list: readonly { state: string; jobs: number }[], state: string): number =>
  list.find((one) => one.state === state)?.jobs ?? 0

/** One cluster: state with the age of its data, use of CPUs and GPUs, jobs. `actions` are shown at its end. */
export function ClusterCard({ cluster, actions }: { cluster: ClusterRow; actions?: ReactNode }) {
  const { totals } = cluster
  return (
    <li
      className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4"
      data-testid="slurm-cluster"
      data-state={cluster.state}
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h2 className="min-w-0 text-base font-semibold wrap-anywhere">
          <Link href={clusterHref(cluster.id)} className="hover:underline">
            {cluster.name}
          </Link>
        </h2>
        <Badge>{t(`slurmKind.${cluster.kind}`)}</Badge>
        {cluster.version && <span className="font-mono text-xs text-muted">{cluster.version}</span>}
        <span className="ml-auto text-xs text-muted">{cluster.region ?? t('slurm.noRegion')}</span>
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 text-xs text-muted">
        <span className="text-text" aria-live="polite">
          <ClusterState cluster={cluster} />
        </span>
        <DataAge cluster={cluster} />
      </div>
      {cluster.lastError && <p className="text-xs break-words text-bad">{cluster.lastError}</p>}
      <div className="grid grid-cols-2 gap-4">
        <UseBar label={t('slurm.cpus')} used={totals.allocatedCpus} total={totals.cpus} />
        <UseBar label={t('slurm.gpus')} used={totals.allocatedGpus} total={totals.gpus} none={t('slurm.noGpus')} />
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted tabular-nums">
        <span>{t('slurm.nodeCount', { count: totals.nodes })}</span>
        <span>{t('slurm.runningJobs', { count: countOf(totals.jobsByState, 'RUNNING') })}</span>
        <span>{t('slurm.pendingJobs', { count: countOf(totals.jobsByState, 'PENDING') })}</span>
      </p>
      {actions && <div className="mt-auto flex flex-wrap gap-2 border-t border-line pt-3">{actions}</div>}
    </li>
  )
}
