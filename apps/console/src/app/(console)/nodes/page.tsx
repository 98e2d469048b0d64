'use client'
import clsx from 'clsx'
import { ArrowDown, ArrowUp, Plus, SearchX, Server } from 'lucide-react'
import { useMemo } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { type NodeRow, NodesQuery, NodeUpdated } from '@/nodes/documents.ts'
import { type SortKey, toFilter, toOrder } from '@/nodes/filter.ts'
import { FilterBar } from '@/nodes/filter-bar.tsx'
import { cardHeight, columns, lineHeight, NodeLine } from '@/nodes/node-line.tsx'
import { SelectionBar } from '@/nodes/selection-bar.tsx'
import { selectedNodes } from '@/nodes/selection-store.ts'
import { SetupNotice } from '@/nodes/setup-notice.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useSelection } from '@/ui/hooks/use-selection.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'

function SortHead({
  name,
  label,
  sort,
  onSort,
  right,
}: {
  name: SortKey
  label: string
  sort: string
  onSort: (sort: string) => void
  right?: boolean
}) {
  const isActive = sort.replace(/^-/, '') === name
  const isDown = sort.startsWith('-')
  const Arrow = isDown ? ArrowDown : ArrowUp
  return (
    <button
      type="button"
      className={clsx('flex items-center gap-1 hover:text-text', right && 'justify-end')}
      onClick={() => onSort(isActive && !isDown ? `-${name}` : name)}
      aria-label={t('nodes.sortBy', { name: label })}
    >
      {label}
      {isActive && <Arrow className="size-3" aria-hidden />}
    </button>
  )
}

/** All nodes of the tenant with search, filters and live updates. */
export default function NodesPage() {
  useTitle(t('nav.nodes'))
  const query = useQueryState()
  const isNarrow = useNarrow()
  const sort = query.get('sort') || 'name'
  const filter = useMemo(() => toFilter(query.get, query.all), [query])
  const orderBy = useMemo(() => toOrder(sort), [sort])
  const list = useConnection('nodes', NodesQuery, { filter, orderBy }, (data) => data.nodes)
  const isFiltered = Object.keys(filter).length > 0
  useLive(NodeUpdated, {}, ({ nodeUpdated }) => {
    // A changed row may move, join or leave the list: patch it now and reload shortly for the server's order.
    const isKnown = list.patch(nodeUpdated)
    if (!isKnown || isFiltered || sort !== 'name') list.reloadDebounced()
  })

  const { selected, set: select, toggle } = useSelection(list.rows, selectedNodes)
  const renderRow = (node: NodeRow, index: number) => (
    <NodeLine node={node} isSelected={selected.has(node.id)} onSelect={(isRange) => toggle(index, isRange)} isNarrow={isNarrow} />
  )
  const isEverythingLoadedChosen = list.rows.length > 0 && list.rows.every((row) => selected.has(row.id))
  const hasNothing = !list.isLoading && !list.problem && list.rows.length === 0

  return (
    <>
      <PageHead title={t('nav.nodes')} count={list.total === null ? undefined : formatNumber(list.total)}>
        <ButtonLink href="/nodes/add" variant="primary" icon={<Plus aria-hidden />}>
          {t('nodes.add')}
        </ButtonLink>
      </PageHead>
      <SetupNotice />
      {(isFiltered || !hasNothing) && <FilterBar query={query} />}
      {list.problem && list.rows.length > 0 && (
        <div className="pb-3">
          <Notice tone="warn" action={<Button onClick={() => void list.reload()}>{t('common.retry')}</Button>}>
            {list.problem.message}
          </Notice>
        </div>
      )}
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('nodes.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : hasNothing && !isFiltered ? (
        <Empty
          icon={<Server aria-hidden />}
          title={t('nodes.emptyTitle')}
          action={
            <>
              <ButtonLink href="/nodes/add" variant="primary" icon={<Plus aria-hidden />}>
                {t('nodes.add')}
              </ButtonLink>
              <ButtonLink href="/nodes/add?mode=bulk">{t('nodes.addMany')}</ButtonLink>
            </>
          }
        >
          <p>{t('nodes.emptyText')}</p>
        </Empty>
      ) : hasNothing ? (
        <Empty
          icon={<SearchX aria-hidden />}
          title={t('nodes.noMatchTitle')}
          action={<ButtonLink href="/nodes">{t('filter.clearAll')}</ButtonLink>}
        >
          <p>{t('nodes.noMatchText')}</p>
        </Empty>
      ) : (
        <div className="rounded-lg border border-line bg-panel">
          <div
            className={clsx(
              isNarrow ? 'flex gap-3 px-3' : columns,
              'sticky top-12 z-10 h-9 items-center rounded-t-lg border-b border-line bg-panel text-xs font-medium text-muted md:top-0',
            )}
          >
            <input
              type="checkbox"
              aria-label={t('nodes.selectLoaded')}
              checked={isEverythingLoadedChosen}
              onChange={() => select(isEverythingLoadedChosen ? [] : list.rows.map((row) => row.id))}
              className="size-4 accent-accent"
            />
            <SortHead name="name" label={t('nodes.name')} sort={sort} onSort={(next) => query.set({ sort: next })} />
            {!isNarrow && <span>{t('filter.health')}</span>}
            <SortHead name="status" label={t('nodes.status')} sort={sort} onSort={(next) => query.set({ sort: next })} />
            {!isNarrow && (
              <>
                <span className="hidden xl:block">{t('nodes.agent')}</span>
                <span className="hidden xl:block">{t('nodes.address')}</span>
                <span>{t('nodes.accelerators')}</span>
                <span className="hidden 2xl:block">{t('nodes.os')}</span>
                <span className="hidden 2xl:block">{t('nodes.cpuMemory')}</span>
                <span className="hidden xl:block">{t('nodes.tags')}</span>
              </>
            )}
            <SortHead name="seen" label={t('nodes.lastSeen')} sort={sort} onSort={(next) => query.set({ sort: next })} right />
          </div>
          {list.isLoading ? (
            <SkeletonRows rows={12} height={isNarrow ? cardHeight : lineHeight} />
          ) : (
            <VirtualList
              label={t('nav.nodes')}
              rows={list.rows}
              rowHeight={isNarrow ? cardHeight : lineHeight}
              renderRow={renderRow}
              onNearEnd={list.more}
              hasMore={list.hasMore}
            />
          )}
        </div>
      )}
      {selected.size > 0 && <SelectionBar ids={[...selected]} total={list.total} filter={filter} onChange={select} />}
    </>
  )
}
