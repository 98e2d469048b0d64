'use client'
import { Play, Search, SearchX } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { useQuery } from 'urql'
import type { VariablesOf } from '@/graphql/graphql.ts'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { runStatuses } from '@/runs/badges.tsx'
import { type RunRow, RunsQuery, RunsUpdated, TemplatesQuery } from '@/runs/documents.ts'
import { RunLine, runColumns } from '@/runs/run-line.tsx'
import { ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'

type Filter = NonNullable<VariablesOf<typeof RunsQuery>['filter']>

/** Filters of the run list, stored in the URL. */
function RunFilters({ query }: { query: ReturnType<typeof useQueryState> }) {
  const [{ data }] = useQuery({ query: TemplatesQuery })
  const [text, setText] = useState(query.get('q'))
  useEffect(() => {
    if (text === query.get('q')) return
    const timer = setTimeout(() => query.set({ q: text }), 200)
    return () => clearTimeout(timer)
  }, [text, query])
  return (
    <div className="flex flex-wrap gap-2 pb-3">
      <div className="relative min-w-0 flex-1 basis-48 md:max-w-sm">
        <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" aria-hidden />
        <input
          data-search
          type="search"
          aria-label={t('runs.search')}
          placeholder={t('runs.search')}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="h-8 w-full rounded-md border border-line-strong bg-panel pr-3 pl-8 text-sm placeholder:text-faint"
        />
      </div>
      <FilterSelect label={t('runs.status')} value={query.get('status')} onChange={(value) => query.set({ status: value })}>
        <option value="">{t('runs.anyStatus')}</option>
        {runStatuses.map((status) => (
          <option key={status} value={status}>
            {t(`runStatus.${status}`)}
          </option>
        ))}
      </FilterSelect>
      <FilterSelect label={t('runs.template')} value={query.get('template')} onChange={(value) => query.set({ template: value })}>
        <option value="">{t('runs.anyTemplate')}</option>
        {data?.jobTemplates.edges.map(({ node }) => (
          <option key={node.id} value={node.id}>
            {node.displayName}
          </option>
        ))}
      </FilterSelect>
    </div>
  )
}

/** All runs of the tenant, newest first, with live updates. */
export default function RunsPage() {
  useTitle(t('nav.runs'))
  const query = useQueryState()
  const isNarrow = useNarrow()
  const filter = useMemo(() => {
    const status = query.get('status') as RunRow['status'] | ''
    const wanted: Filter = {
      ...(query.get('q') && { text: query.get('q') }),
      ...(status && { status: [status] }),
      ...(query.get('template') && { templateId: query.get('template') }),
    }
    return wanted
  }, [query])
  const isFiltered = Object.keys(filter).length > 0
  const list = useConnection('runs', RunsQuery, { filter }, (data) => data.jobRuns)
  useLive(RunsUpdated, {}, ({ jobRunUpdated }) => {
    if (!list.patch(jobRunUpdated) || filter.status) list.reloadDebounced()
  })
  const hasNothing = !list.isLoading && !list.problem && list.rows.length === 0
  const start = (
    <ButtonLink href="/runs/new" variant="primary" icon={<Play aria-hidden />}>
      {t('runs.new')}
    </ButtonLink>
  )
  return (
    <>
      <PageHead title={t('nav.runs')} count={list.total === null ? undefined : formatNumber(list.total)}>
        {start}
      </PageHead>
      {(isFiltered || !hasNothing) && <RunFilters query={query} />}
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('runs.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : hasNothing && !isFiltered ? (
        <Empty icon={<Play aria-hidden />} title={t('runs.emptyTitle')} action={start}>
          <p>{t('runs.emptyText')}</p>
        </Empty>
      ) : hasNothing ? (
        <Empty
          icon={<SearchX aria-hidden />}
          title={t('runs.noMatchTitle')}
          action={<ButtonLink href="/runs">{t('filter.clearAll')}</ButtonLink>}
        />
      ) : (
        <div className="rounded-lg border border-line bg-panel">
          {!isNarrow && (
            <div
              className={`${runColumns} sticky top-0 z-10 h-9 rounded-t-lg border-b border-line bg-panel text-xs font-medium text-muted`}
            >
              <span>{t('runs.status')}</span>
              <span>{t('runs.template')}</span>
              <span>{t('runs.target')}</span>
              <span>{t('runs.hostsHead')}</span>
              <span>{t('runs.duration')}</span>
              <span>{t('runs.by')}</span>
              <span className="text-right">{t('runs.when')}</span>
            </div>
          )}
          {list.isLoading ? (
            <SkeletonRows rows={10} height={isNarrow ? 68 : 40} />
          ) : (
            <VirtualList
              label={t('nav.runs')}
              rows={list.rows}
              rowHeight={isNarrow ? 68 : 40}
              renderRow={(run) => <RunLine run={run} isNarrow={isNarrow} />}
              onNearEnd={list.more}
              hasMore={list.hasMore}
            />
          )}
        </div>
      )}
    </>
  )
}
