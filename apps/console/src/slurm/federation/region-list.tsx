import Link from 'next/link'
import { t } from '@/messages/index.ts'
import { Panel } from '@/ui/page.tsx'
import { ClusterState, DataAge } from '../badges.tsx'
import { clusterHref } from '../cluster-card.tsx'
import type { ClusterRow } from '../documents.ts'
import { UseBar } from '../use-bar.tsx'
import type { RegionTotals } from './documents.ts'

const columns =
  'grid grid-cols-2 items-center gap-x-4 gap-y-2 px-4 py-3 md:grid-cols-[minmax(120px,1.2fr)_minmax(150px,1fr)_minmax(120px,1fr)_minmax(120px,1fr)_130px] [&>*]:min-w-0'

const countOf = ({ totals }: ClusterRow, state: string): number =>
  totals.jobsByState.find((one) => one.state === state)?.jobs ?? 0

/** All clusters side by side, by region, with the totals of each region. `clusters` may be a part of them. */
export function RegionList({ regions, clusters }: { regions: readonly RegionTotals[]; clusters: readonly ClusterRow[] }) {
  return (
    <Panel title={t('slurmOverview.byRegion')} flush>
      <div className="flex flex-col">
        {regions.map((region) => (
          <Region
            key={region.region ?? ''}
            region={region}
            clusters={clusters.filter((cluster) => cluster.region === region.region)}
          />
        ))}
      </div>
    </Panel>
  )
}

function Region({ region, clusters }: { region: RegionTotals; clusters: readonly ClusterRow[] }) {
  const name = region.region ?? t('slurm.noRegion')
  return (
    <section className="border-b border-line last:border-0" data-testid="slurm-region">
      <div className={`${columns} bg-sunken text-sm`}>
        <h3 className="font-semibold wrap-anywhere">{name}</h3>
        <span className="text-xs text-muted">
          {t('slurmOverview.clusterCount', { count: region.clusters })}
          {region.notAnswering > 0 && (
            <span className="block text-bad">{t('slurmOverview.notCurrent', { count: region.notAnswering })}</span>
          )}
        </span>
        <Use row={region} />
        <Jobs nodes={region.nodes} running={region.runningJobs} pending={region.pendingJobs} />
      </div>
      <ul aria-label={name}>
        {clusters.map((cluster) => (
          <li key={cluster.id} className={`${columns} border-t border-line text-sm`}>
            <Link href={clusterHref(cluster.id)} className="font-medium wrap-anywhere hover:underline">
              {cluster.name}
            </Link>
            <span className="flex flex-col text-xs text-muted">
              <ClusterState cluster={cluster} />
              <DataAge cluster={cluster} />
            </span>
            <Use row={cluster.totals} />
            <Jobs nodes={cluster.totals.nodes} running={countOf(cluster, 'RUNNING')} pending={countOf(cluster, 'PENDING')} />
          </li>
        ))}
      </ul>
    </section>
  )
}

type Resources = Pick<RegionTotals, 'cpus' | 'allocatedCpus' | 'gpus' | 'allocatedGpus'>
const Use = ({ row }: { row: Resources }) => (
  <>
    <UseBar label={t('slurm.cpus')} used={row.allocatedCpus} total={row.cpus} />
    <UseBar label={t('slurm.gpus')} used={row.allocatedGpus} total={row.gpus} none={t('slurm.noGpus')} />
  </>
)

const Jobs = ({ nodes, running, pending }: { nodes: number; running: number; pending: number }) => (
  <span className="col-span-2 flex flex-wrap gap-x-3 text-xs text-muted tabular-nums md:col-span-1 md:flex-col">
    <span>{t('slurm.nodeCount', { count: nodes })}</span>
    <span>{t('slurm.runningJobs', { count: running })}</span>
    <span>{t('slurm.pendingJobs', { count: pending })}</span>
  </span>
)
