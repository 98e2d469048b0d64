'use client'
import { Radar } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useSelection } from '@/ui/hooks/use-selection.ts'
import { Skeleton } from '@/ui/skeleton.tsx'
import { AssignDialog } from './assign-dialog.tsx'
import { type BmcSearchPage, type FoundBmc, FoundBmcsQuery, pickFound } from './documents.ts'
import { FoundList } from './found-list.tsx'

/** A new BMC of exactly one node, which needs no decision. */
const isClear = ({ node, conflict, matchedBy }: FoundBmc) => node !== null && !conflict && !matchedBy?.includes('address')

/** What a search found, with the selection to assign. */
export function FoundBmcs({ search }: { search: BmcSearchPage }) {
  const list = useConnection('found-bmcs', FoundBmcsQuery, { id: search.id }, pickFound)
  const { selected, set, toggle } = useSelection(list.rows)
  const blockedReason = useBlockedReason('node:write')
  const [isAssigning, setAssigning] = useState(false)
  const { reloadDebounced } = list
  // biome-ignore lint/correctness/useExhaustiveDependencies: other counts mean other rows
  useEffect(reloadDebounced, [search.foundCount, search.finishedAt, reloadDebounced])
  const chosen = list.rows.filter(({ id }) => selected.has(id))
  const clear = list.rows.filter(isClear)
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('bmcSearch.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading) return <Skeleton className="h-48 w-full" />
  if (list.rows.length === 0)
    return (
      <Empty icon={<Radar aria-hidden />} title={search.finishedAt ? t('bmcSearch.nothingTitle') : t('bmcSearch.searching')}>
        {search.finishedAt && <p>{t('bmcSearch.nothingText')}</p>}
      </Empty>
    )
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        {clear.length > 0 && (
          <Button onClick={() => set(clear.map(({ id }) => id))}>{t('bmcSearch.selectClear', { count: clear.length })}</Button>
        )}
        <Button
          variant="primary"
          blockedReason={blockedReason ?? (chosen.length === 0 ? t('bmcSearch.needSelection') : null)}
          onClick={() => setAssigning(true)}
        >
          {chosen.length === 0 ? t('bmcSearch.assignNone') : t('bmcSearch.assign', { count: chosen.length })}
        </Button>
      </div>
      <FoundList rows={list.rows} selected={selected} onToggle={toggle} />
      {list.hasMore && (
        <Button className="self-center" onClick={list.more}>
          {t('common.loadMore')}
        </Button>
      )}
      {isAssigning && (
        <AssignDialog
          search={search}
          rows={chosen}
          onClose={() => setAssigning(false)}
          onAssigned={() => {
            set([])
            void list.reload()
          }}
        />
      )}
    </div>
  )
}
