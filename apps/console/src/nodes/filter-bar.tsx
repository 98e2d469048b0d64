'use client'
import clsx from 'clsx'
import { ListFilter, Search, X } from 'lucide-react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useQueryText } from '@/ui/hooks/use-query-text.ts'
import { Popover } from '@/ui/popover.tsx'
import { type NodeFacets, NodeFacetsQuery } from './documents.ts'
import { type FilterKey, filterKeys, isHostlist } from './filter.ts'

type Query = ReturnType<typeof useQueryState>
const facetOf: Partial<Record<FilterKey, keyof Omit<NodeFacets, '__typename'>>> = {
  status: 'statuses',
  health: 'healthStatuses',
  device: 'deviceTypes',
  model: 'models',
  tag: 'tags',
  group: 'groups',
  os: 'oses',
  arch: 'arches',
  agent: 'agentStates',
  cluster: 'clusters',
  region: 'regions',
  datacenter: 'datacenters',
  rack: 'racks',
}

/** The filters that are either set or not. */
const isAlarm = (key: FilterKey) => key === 'alarm' || key === 'agentAlarm'

/** The label of a filter value. */
function valueLabel(key: FilterKey, value: string): string {
  const catalogs = { status: 'nodeStatus', health: 'nodeHealth', device: 'deviceType', agent: 'agentState' } as const
  if (key === 'status' || key === 'health' || key === 'device' || key === 'agent') {
    // The value comes from the URL and may be unknown.
    const messageKey = `${catalogs[key]}.${value}` as 'nodeStatus.READY'
    return t.has(messageKey) ? t(messageKey) : value
  }
  if (key === 'alarm' || key === 'agentAlarm') return t('filter.alarmValue')
  return value
}

function SearchBox({ query }: { query: Query }) {
  const [text, setText] = useQueryText(query, 'q')
  return (
    <div className="relative min-w-0 flex-1 basis-56 md:max-w-md">
      <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" aria-hidden />
      <input
        data-search
        type="search"
        aria-label={t('nodes.search')}
        placeholder={t('nodes.searchHint')}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && (text ? setText('') : event.currentTarget.blur())}
        className={clsx(
          'h-8 w-full rounded-md border border-line-strong bg-panel pr-3 pl-8 text-sm placeholder:text-faint',
          isHostlist(text) && 'font-mono',
        )}
      />
    </div>
  )
}

/** Values in use with their counts, read whenever the menu opens. */
function FilterMenu({ query, onToggle }: { query: Query; onToggle: (key: FilterKey, value: string) => void }) {
  const [{ data }] = useQuery({ query: NodeFacetsQuery, requestPolicy: 'cache-and-network' })
  return (
    <div className="grid w-[min(520px,calc(100vw-32px))] gap-x-4 gap-y-3 p-2 sm:grid-cols-2">
      {filterKeys.map((key) => {
        const facets = isAlarm(key) ? [{ value: '1', count: null }] : (data?.nodeFacets[facetOf[key] as 'tags'] ?? [])
        if (facets.length === 0) return null
        return (
          <fieldset key={key} className="min-w-0">
            <legend className="pb-1 text-xs font-medium text-muted">{t(`filter.${key}`)}</legend>
            <div className="max-h-40 overflow-auto">
              {facets.map((facet) => (
                <label key={facet.value} className="flex items-center gap-2 rounded px-1 py-1 text-sm hover:bg-hover">
                  <input
                    type="checkbox"
                    className="size-3.5 accent-accent"
                    checked={query.all(key).includes(facet.value)}
                    onChange={() => onToggle(key, facet.value)}
                  />
                  <span className="min-w-0 flex-1 truncate">{valueLabel(key, facet.value)}</span>
                  {facet.count !== null && <span className="text-xs text-faint tabular-nums">{facet.count}</span>}
                </label>
              ))}
            </div>
          </fieldset>
        )
      })}
    </div>
  )
}

/** Search and filters of the node list, stored in the URL. */
export function FilterBar({ query }: { query: Query }) {
  const chosen = filterKeys.flatMap((key) => query.all(key).map((value) => ({ key, value })))
  function toggle(key: FilterKey, value: string) {
    const values = query.all(key)
    const isSingle = key === 'model' || isAlarm(key)
    query.set({
      [key]: values.includes(value) ? values.filter((each) => each !== value) : isSingle ? [value] : [...values, value],
    })
  }
  return (
    <div className="flex flex-col gap-2 pb-3">
      <div className="flex flex-wrap gap-2">
        <SearchBox query={query} />
        <Popover label={t('filter.open')} icon={<ListFilter aria-hidden />} badge={chosen.length} align="end">
          <FilterMenu query={query} onToggle={toggle} />
        </Popover>
      </div>
      {chosen.length > 0 && (
        <div className="flex flex-wrap items-center gap-1.5">
          {chosen.map(({ key, value }) => (
            <button
              key={`${key} ${value}`}
              type="button"
              onClick={() => toggle(key, value)}
              className="inline-flex h-6 max-w-full items-center gap-1 rounded-full border border-line-strong bg-panel pr-1.5 pl-2.5 text-xs hover:bg-hover"
            >
              <span className="sr-only">{t('filter.remove')}</span>
              <span className="text-muted">{t(`filter.${key}`)}</span>
              <span className="truncate font-medium">{valueLabel(key, value)}</span>
              <X className="size-3 text-muted" aria-hidden />
            </button>
          ))}
          <button
            type="button"
            className="px-1 text-xs text-muted underline underline-offset-2 hover:text-text"
            onClick={() => query.set(Object.fromEntries(filterKeys.map((key) => [key, null])))}
          >
            {t('filter.clear')}
          </button>
        </div>
      )}
    </div>
  )
}
