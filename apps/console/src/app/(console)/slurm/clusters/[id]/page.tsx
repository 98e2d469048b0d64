'use client'
import { SearchX } from 'lucide-react'
import Link from 'next/link'
import { useParams, useRouter } from 'next/navigation'
import { useQuery } from 'urql'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { FINISHED_JOB_FILTERS, FinishedJobsTab } from '@/slurm/accounting/finished-jobs-tab.tsx'
import { HistoryTab } from '@/slurm/actions/history-tab.tsx'
import { ClusterState, DataAge } from '@/slurm/badges.tsx'
import { ClusterActions } from '@/slurm/cluster-actions.tsx'
import { type ClusterPage, ClusterPageUpdated, ClusterPartitionsQuery, ClusterQuery } from '@/slurm/cluster-documents.ts'
import { ConfigTab } from '@/slurm/config/config-tab.tsx'
import { FailoverNotice } from '@/slurm/failover-notice.tsx'
import { JobsTab } from '@/slurm/jobs-tab.tsx'
import { LicensesTab } from '@/slurm/licenses-tab.tsx'
import { NodesTab } from '@/slurm/nodes/nodes-tab.tsx'
import { OverviewTab } from '@/slurm/overview-tab.tsx'
import { PartitionsTab } from '@/slurm/partitions-tab.tsx'
import { ReservationsTab } from '@/slurm/reservations-tab.tsx'
import { OperationsTab } from '@/slurm/scale/operations-tab.tsx'
import { ScaleActions } from '@/slurm/scale/scale-actions.tsx'
import { useReloadOn } from '@/slurm/use-reload-on.ts'
import { Badge } from '@/ui/badge.tsx'
import { ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { Tabs } from '@/ui/tabs.tsx'

const tabs = [
  ...(['overview', 'nodes', 'partitions', 'jobs', 'finished', 'reservations', 'licenses'] as const),
  ...(['settings', 'operations', 'history'] as const),
]
type Tab = (typeof tabs)[number]
const emptyPage = { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, totalCount: 0 }

function Loaded({ cluster }: { cluster: ClusterPage }) {
  const router = useRouter()
  const query = useQueryState()
  const requested = query.get('tab') as Tab
  const hasLicenses = cluster.licenses.length > 0
  const tab = tabs.includes(requested) && (hasLicenses || requested !== 'licenses') ? requested : 'overview'
  const partitions = useConnection(
    'slurm-partitions',
    ClusterPartitionsQuery,
    { id: cluster.id },
    (data) => data.slurmCluster?.partitions ?? emptyPage,
  )
  useReloadOn(cluster.refreshedAt, partitions.reload)
  const names = partitions.rows.map(({ name }) => name)
  const noFilters = { q: null, state: null, partition: null, match: null, view: null, ...FINISHED_JOB_FILTERS }
  return (
    <>
      <PageHead
        above={
          <Link href="/slurm/clusters" className="hover:underline">
            {t('slurm.clusters')}
          </Link>
        }
        title={<span className="truncate">{cluster.name}</span>}
        below={
          <div className="flex flex-wrap items-center gap-x-5 gap-y-1 text-sm text-muted">
            <span className="text-text" aria-live="polite">
              <ClusterState cluster={cluster} />
            </span>
            <DataAge cluster={cluster} />
            <Badge>{t(`slurmKind.${cluster.kind}`)}</Badge>
            {cluster.version && <span className="font-mono text-xs">{cluster.version}</span>}
            {cluster.region && <span>{cluster.region}</span>}
          </div>
        }
      >
        <ScaleActions cluster={cluster} />
        <ClusterActions cluster={cluster} onRemoved={() => router.push('/slurm/clusters')} />
      </PageHead>
      {cluster.state === 'NOT_ANSWERING' && (
        <div className="mb-4">
          <Notice tone="bad">
            <p>{cluster.lastError}</p>
            <p>
              {cluster.refreshedAt && t.rich('slurm.oldData', { time: () => <RelativeTime at={cluster.refreshedAt} /> })}{' '}
              {t('slurm.failures', { count: cluster.failureCount })}
            </p>
          </Notice>
        </div>
      )}
      <FailoverNotice cluster={cluster} />
      {cluster.state === 'WAITING' && (
        <div className="mb-4">
          <Notice title={t('slurm.waiting')}>{t('slurm.waitingText')}</Notice>
        </div>
      )}
      <Tabs
        label={t('slurm.views')}
        value={tab}
        onChange={(next) => query.set({ ...noFilters, tab: next === 'overview' ? null : next })}
        tabs={[
          { key: 'overview', label: t('slurm.overview') },
          { key: 'nodes', label: t('slurm.nodes'), count: cluster.totals.nodes },
          { key: 'partitions', label: t('slurm.partitions'), ...(partitions.total === null ? {} : { count: partitions.total }) },
          { key: 'jobs', label: t('slurm.jobs'), count: cluster.totals.jobs },
          { key: 'finished', label: t('slurmHistory.title') },
          { key: 'reservations', label: t('slurmReservation.title'), count: cluster.reservations.length },
          ...(hasLicenses ? [{ key: 'licenses' as const, label: t('slurmLicense.title'), count: cluster.licenses.length }] : []),
          { key: 'settings', label: t('slurmSettings.title') },
          { key: 'operations', label: t('slurmScale.operations') },
          { key: 'history', label: t('slurmAction.history') },
        ]}
      >
        {tab === 'overview' && (
          <OverviewTab cluster={cluster} onState={(to, state) => query.go({ ...noFilters, tab: to, state })} />
        )}
        {tab === 'nodes' && <NodesTab cluster={cluster} query={query} partitions={names} />}
        {tab === 'partitions' &&
          (partitions.problem && partitions.rows.length === 0 ? (
            <Failure
              title={t('slurmPartition.loadFailed')}
              message={partitions.problem.message}
              onRetry={() => void partitions.reload()}
            />
          ) : partitions.isLoading ? (
            <Skeleton className="h-48 w-full" />
          ) : (
            <PartitionsTab
              clusterId={cluster.id}
              onChanged={() => void partitions.reload()}
              partitions={partitions.rows}
              onOpen={(partition) => query.go({ ...noFilters, tab: 'nodes', partition })}
            />
          ))}
        {tab === 'jobs' && <JobsTab cluster={cluster} query={query} partitions={names} />}
        {tab === 'finished' && <FinishedJobsTab clusterId={cluster.id} query={query} partitions={names} />}
        {tab === 'reservations' && <ReservationsTab clusterId={cluster.id} reservations={cluster.reservations} />}
        {tab === 'licenses' && <LicensesTab licenses={cluster.licenses} />}
        {tab === 'settings' && <ConfigTab cluster={cluster} />}
        {tab === 'operations' && <OperationsTab clusterId={cluster.id} />}
        {tab === 'history' && <HistoryTab clusterId={cluster.id} />}
      </Tabs>
    </>
  )
}

/** The page of a Slurm cluster. */
export default function ClusterPageOf() {
  const id = decodeURIComponent(String(useParams().id))
  const [{ data, error }, refetch] = useQuery({ query: ClusterQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  const cluster = data?.slurmCluster
  useTitle(cluster?.name ?? t('slurm.clusters'))
  // The subscription completes when the cluster is removed.
  useLive(ClusterPageUpdated, cluster ? { id } : null, undefined, reload)
  useReconnect(reload)
  if (error && !cluster) return <Failure title={t('slurm.loadOneFailed')} message={toProblem(error).message} onRetry={reload} />
  if (cluster === null)
    return (
      <Empty
        icon={<SearchX aria-hidden />}
        title={t('slurm.notFoundTitle')}
        action={<ButtonLink href="/slurm/clusters">{t('slurm.allClusters')}</ButtonLink>}
      >
        <p>{t('slurm.notFoundText')}</p>
      </Empty>
    )
  if (!cluster)
    return (
      <div className="flex flex-col gap-4">
        <Skeleton className="h-10 w-64" />
        <Skeleton className="h-96 w-full" />
      </div>
    )
  return <Loaded cluster={cluster} />
}
