'use client'
import { ListTodo } from 'lucide-react'
import { useMemo } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { QuerySearch, WordSelect } from '@/slurm/nodes/node-filters.tsx'
import { Empty } from '@/ui/empty.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useSelection } from '@/ui/hooks/use-selection.ts'
import { ActionMenu } from './actions/action-menu.tsx'
import { SelectionActions } from './actions/selection-actions.tsx'
import { ClusterJobsQuery, type ClusterPage, type JobFilter } from './cluster-documents.ts'
import { ClusterListBody } from './cluster-list-body.tsx'
import { JobLine, jobColumns } from './job-line.tsx'
import { useReloadOn } from './use-reload-on.ts'

const emptyPage = { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, totalCount: 0 }

/** The queue of a cluster: running and pending jobs, with why they wait. */
export function JobsTab({
  cluster,
  query,
  partitions,
}: {
  cluster: ClusterPage
  query: ReturnType<typeof useQueryState>
  partitions: readonly string[]
}) {
  const isNarrow = useNarrow()
  const filter = useMemo<JobFilter>(
    () => ({
      ...(query.get('q') && { search: query.get('q') }),
      ...(query.get('state') && { state: [query.get('state')] }),
      ...(query.get('partition') && { partition: [query.get('partition')] }),
    }),
    [query],
  )
  const list = useConnection(
    'slurm-jobs',
    ClusterJobsQuery,
    { id: cluster.id, filter },
    (data) => data.slurmCluster?.jobs ?? emptyPage,
  )
  useReloadOn(cluster.refreshedAt, list.reload)
  const { selected, set: select, toggle } = useSelection(list.rows)
  const ids = list.rows.filter(({ id }) => selected.has(id)).map(({ jobId }) => jobId)
  const states = cluster.totals.jobsByState.map(({ state }) => state)
  const isFiltered = Object.keys(filter).length > 0
  const isEmpty = !list.isLoading && !list.problem && list.rows.length === 0
  if (isEmpty && !isFiltered)
    return (
      <Empty icon={<ListTodo aria-hidden />} title={t('slurmJob.emptyTitle')}>
        <p>{cluster.state === 'WAITING' ? t('slurm.waitingText') : t('slurmJob.emptyText')}</p>
      </Empty>
    )
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap gap-2">
        <QuerySearch query={query} label={t('slurmJob.search')} />
        <WordSelect query={query} name="state" label={t('slurm.anyState')} words={states} />
        <WordSelect query={query} name="partition" label={t('slurm.anyPartition')} words={partitions} />
        <div className="ml-auto">
          <ActionMenu
            label={t('slurmAction.bulk')}
            clusterId={cluster.id}
            targets={{ kind: 'jobs', partitions, states, partition: query.get('partition'), state: query.get('state') }}
            onDone={() => void list.reload()}
          />
        </div>
      </div>
      <ClusterListBody
        list={list}
        isNarrow={isNarrow}
        label={t('slurm.jobs')}
        failed={t('slurmJob.loadFailed')}
        height={44}
        columns={`${jobColumns} [&>:last-child]:text-right`}
        head={[
          t('slurmJob.job'),
          t('slurmJob.name'),
          t('slurmJob.user'),
          t('slurmJob.partition'),
          t('slurmJob.state'),
          t('slurmJob.resources'),
          t('slurmJob.nodes'),
          t('slurmJob.started'),
        ]}
        renderRow={(job, index) => (
          <JobLine
            job={job}
            isNarrow={isNarrow}
            isSelected={selected.has(job.id)}
            onSelect={(isRange) => toggle(index, isRange)}
          />
        )}
      />
      {ids.length > 0 && (
        <SelectionActions
          clusterId={cluster.id}
          targets={{ kind: 'jobs', names: ids }}
          onClear={() => select([])}
          onDone={() => void list.reload()}
        />
      )}
    </div>
  )
}
