'use client'
import { Boxes, Plus, Search, SearchX } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useMemo, useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { GroupsQuery, groupHref, groupKinds } from '@/groups/documents.ts'
import { GroupDialog } from '@/groups/group-dialog.tsx'
import { columns, GroupLine } from '@/groups/group-line.tsx'
import { formatNumber, t } from '@/messages/index.ts'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useQueryText } from '@/ui/hooks/use-query-text.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'

function Filters({ query }: { query: ReturnType<typeof useQueryState> }) {
  const [text, setText] = useQueryText(query, 'q')
  return (
    <div className="flex flex-wrap gap-2 pb-3">
      <div className="relative min-w-0 flex-1 basis-56 md:max-w-md">
        <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" aria-hidden />
        <input
          data-search
          type="search"
          aria-label={t('group.search')}
          placeholder={t('group.search')}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="h-8 w-full rounded-md border border-line-strong bg-panel pr-3 pl-8 text-sm placeholder:text-faint"
        />
      </div>
      <FilterSelect label={t('group.kind')} value={query.get('kind')} onChange={(kind) => query.set({ kind })}>
        <option value="">{t('group.allKinds')}</option>
        {groupKinds.map((kind) => (
          <option key={kind} value={kind}>
            {t(`groupKind.${kind}`)}
          </option>
        ))}
      </FilterSelect>
    </div>
  )
}

/** All node groups of the tenant. */
export default function GroupsPage() {
  useTitle(t('nav.groups'))
  const query = useQueryState()
  const router = useRouter()
  const isNarrow = useNarrow()
  const blockedReason = useBlockedReason('group:write')
  const [isCreating, setCreating] = useState(false)
  const filter = useMemo(() => {
    const kind = groupKinds.find((each) => each === query.get('kind'))
    const text = query.get('q').trim()
    return { ...(kind && { kind }), ...(text && { text }) }
  }, [query])
  const list = useConnection('groups', GroupsQuery, { filter }, (data) => data.nodeGroups)
  const isFiltered = Object.keys(filter).length > 0
  const hasNothing = !list.isLoading && !list.problem && list.rows.length === 0
  const rowHeight = isNarrow ? 68 : 40
  const add = (
    <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={blockedReason} onClick={() => setCreating(true)}>
      {t('group.new')}
    </Button>
  )
  return (
    <>
      <PageHead
        title={t('nav.groups')}
        count={list.total === null ? undefined : formatNumber(list.total)}
        below={<p className="text-sm text-muted">{t('group.text')}</p>}
      >
        {(isFiltered || !hasNothing) && add}
      </PageHead>
      {(isFiltered || !hasNothing) && <Filters query={query} />}
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('group.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : hasNothing && !isFiltered ? (
        <Empty icon={<Boxes aria-hidden />} title={t('group.emptyTitle')} action={add}>
          <p>{t('group.emptyText')}</p>
        </Empty>
      ) : hasNothing ? (
        <Empty
          icon={<SearchX aria-hidden />}
          title={t('group.noMatchTitle')}
          action={<ButtonLink href="/groups">{t('filter.clearAll')}</ButtonLink>}
        />
      ) : (
        <div className="rounded-lg border border-line bg-panel">
          {!isNarrow && (
            <div
              className={`${columns} sticky top-0 z-10 h-9 rounded-t-lg border-b border-line bg-panel text-xs font-medium text-muted`}
            >
              <span>{t('group.name')}</span>
              <span>{t('group.kind')}</span>
              <span className="text-right">{t('nav.nodes')}</span>
              <span className="text-right">{t('group.priority')}</span>
              <span className="hidden lg:block">{t('group.parent')}</span>
              <span className="hidden lg:block">{t('group.set')}</span>
              <span>{t('group.membership')}</span>
            </div>
          )}
          {list.isLoading ? (
            <SkeletonRows rows={8} height={rowHeight} />
          ) : (
            <VirtualList
              label={t('nav.groups')}
              rows={list.rows}
              rowHeight={rowHeight}
              renderRow={(group) => <GroupLine group={group} isNarrow={isNarrow} />}
              onNearEnd={list.more}
              hasMore={list.hasMore}
            />
          )}
        </div>
      )}
      {isCreating && <GroupDialog group={null} onClose={() => setCreating(false)} onDone={(id) => router.push(groupHref(id))} />}
    </>
  )
}
