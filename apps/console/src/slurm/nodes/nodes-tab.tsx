'use client'
import { LayoutGrid, List, Plus, Server } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { ActionMenu } from '@/slurm/actions/action-menu.tsx'
import { SelectionActions } from '@/slurm/actions/selection-actions.tsx'
import { ClusterNodesQuery, type ClusterPage, type NodeFilter } from '@/slurm/cluster-documents.ts'
import { ClusterListBody } from '@/slurm/cluster-list-body.tsx'
import { useReloadOn } from '@/slurm/use-reload-on.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useSelection } from '@/ui/hooks/use-selection.ts'
import { NodeDialog } from './node-dialog.tsx'
import { QuerySearch, WordSelect } from './node-filters.tsx'
import { NodeGrid } from './node-grid.tsx'
import { NodeLine, nodeColumns } from './node-line.tsx'
import { OnboardDialog } from './onboard-dialog.tsx'

const matches = ['MATCHED', 'UNMATCHED', 'CONFLICT'] as const
const emptyPage = { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, totalCount: 0 }

/** The nodes of a cluster, as a list or a grid colored by state. */
export function NodesTab({
  cluster,
  query,
  partitions,
}: {
  cluster: ClusterPage
  query: ReturnType<typeof useQueryState>
  partitions: readonly string[]
}) {
  const isNarrow = useNarrow()
  const isGrid = query.get('view') === 'grid'
  const [openId, setOpenId] = useState<string | null>(null)
  const filter = useMemo<NodeFilter>(() => {
    const match = matches.find((one) => one === query.get('match'))
    return {
      ...(query.get('q') && { search: query.get('q') }),
      ...(query.get('state') && { state: [query.get('state')] }),
      ...(query.get('partition') && { partition: [query.get('partition')] }),
      ...(match && { match: [match] }),
    }
  }, [query])
  const list = useConnection(
    'slurm-nodes',
    ClusterNodesQuery,
    { id: cluster.id, filter },
    (data) => data.slurmCluster?.nodes ?? emptyPage,
  )
  useReloadOn(cluster.refreshedAt, list.reload)
  const { selected, set: select, toggle } = useSelection(list.rows)
  const chosen = list.rows.filter(({ id }) => selected.has(id))
  const names = chosen.map(({ name }) => name)
  const unmatched = chosen.filter(({ match }) => match === 'UNMATCHED').map(({ name }) => name)
  const [onboarding, setOnboarding] = useState<string[] | null>(null)
  const states = cluster.totals.nodesByState.map(({ state }) => state)
  const isFiltered = Object.keys(filter).length > 0
  const isEmpty = !list.isLoading && !list.problem && list.rows.length === 0
  if (isEmpty && !isFiltered)
    return (
      <Empty icon={<Server aria-hidden />} title={t('slurmNode.emptyTitle')}>
        <p>{cluster.state === 'WAITING' ? t('slurm.waitingText') : t('slurmNode.emptyText')}</p>
      </Empty>
    )
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap gap-2">
        <QuerySearch query={query} label={t('slurmNode.search')} />
        <WordSelect query={query} name="state" label={t('slurm.anyState')} words={states} />
        <WordSelect query={query} name="partition" label={t('slurm.anyPartition')} words={partitions} />
        <FilterSelect label={t('slurmNode.matchAny')} value={query.get('match')} onChange={(match) => query.set({ match })}>
          <option value="">{t('slurmNode.matchAny')}</option>
          {matches.map((match) => (
            <option key={match} value={match}>
              {t(`slurmNode.match.${match}`)}
            </option>
          ))}
        </FilterSelect>
        <div className="ml-auto">
          <ActionMenu
            label={t('slurmAction.bulk')}
            clusterId={cluster.id}
            targets={{ kind: 'nodes', partitions, states, partition: query.get('partition'), state: query.get('state') }}
            onDone={() => void list.reload()}
          />
        </div>
        <fieldset className="flex gap-1">
          <legend className="sr-only">{t('slurmNode.view')}</legend>
          <Button
            label={t('slurmNode.list')}
            variant={isGrid ? 'quiet' : 'plain'}
            aria-pressed={!isGrid}
            icon={<List aria-hidden />}
            onClick={() => query.set({ view: null })}
          />
          <Button
            label={t('slurmNode.grid')}
            variant={isGrid ? 'plain' : 'quiet'}
            aria-pressed={isGrid}
            icon={<LayoutGrid aria-hidden />}
            onClick={() => query.set({ view: 'grid' })}
          />
        </fieldset>
      </div>
      <ClusterListBody
        list={list}
        isNarrow={isNarrow}
        label={t('slurm.nodes')}
        failed={t('slurmNode.loadFailed')}
        height={40}
        columns={nodeColumns}
        head={[
          t('slurmNode.node'),
          t('slurmNode.state'),
          t('slurm.partitions'),
          t('slurmNode.use'),
          t('slurmNode.useGpu'),
          t('slurmNode.inventory'),
          t('slurmNode.reason'),
        ]}
        renderRow={(node, index) => (
          <NodeLine
            node={node}
            isNarrow={isNarrow}
            isSelected={selected.has(node.id)}
            onSelect={(isRange) => toggle(index, isRange)}
            onOpen={() => setOpenId(node.id)}
          />
        )}
        view={
          isGrid && <NodeGrid nodes={list.rows} total={list.total} hasMore={list.hasMore} onMore={list.more} onOpen={setOpenId} />
        }
      />
      {names.length > 0 && (
        <SelectionActions
          clusterId={cluster.id}
          targets={{ kind: 'nodes', names }}
          onClear={() => select([])}
          onDone={() => void list.reload()}
        >
          {unmatched.length > 0 && (
            <Button
              icon={<Plus aria-hidden />}
              blockedReason={cluster.updateBlockedReason}
              onClick={() => setOnboarding(unmatched)}
            >
              {t('slurmNode.onboard')}
            </Button>
          )}
        </SelectionActions>
      )}
      {onboarding && (
        <OnboardDialog
          clusterId={cluster.id}
          names={onboarding}
          onClose={() => setOnboarding(null)}
          onDone={() => void list.reload()}
        />
      )}
      {openId && (
        <NodeDialog
          id={openId}
          refreshedAt={cluster.refreshedAt}
          onClose={() => setOpenId(null)}
          onChanged={() => void list.reload()}
        />
      )}
    </div>
  )
}
