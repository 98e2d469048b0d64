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
import { type BmcDiscoveryPage, type FoundBmc, FoundBmcsQuery, pickFound } from './documents.ts'
import { FoundList } from './found-list.tsx'

/** A new BMC of exactly one node, which needs no decision. */
const isClear = ({ node, conflict, matchedBy }: FoundBmc) => node !== null && !conflict && !matchedBy?.includes('address')

/** What a discovery found, with the selection to assign. */
export function FoundBmcs({ discovery }: { discovery: BmcDiscoveryPage }) {
  const list = useConnection('found-bmcs', FoundBmcsQuery, { id: discovery.id }, pickFound)
  const { selected, set, toggle } = useSelection(list.rows)
  const blockedReason = useBlockedReason('node:write')
  const [isAssigning, setAssigning] = useState(false)
  const { reloadDebounced } = list
  // biome-ignore lint/correctness/useExhaustiveDependencies: other counts mean other rows
  useEffect(reloadDebounced, [discovery.foundCount, discovery.finishedAt, reloadDebounced])
  const chosen = list.rows.filter(({ id }) => selected.has(id))
  const clear = list.rows.filter(isClear)
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('bmcDiscovery.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading) return <Skeleton className="h-48 w-full" />
  if (list.rows.length === 0)
    return (
      <Empty
        icon={<Radar aria-hidden />}
        title={discovery.finishedAt ? t('bmcDiscovery.nothingTitle') : t('bmcDiscovery.searching')}
      >
        {discovery.finishedAt && <p>{t('bmcDiscovery.nothingText')}</p>}
      </Empty>
    )
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        {clear.length > 0 && (
          <Button onClick={() => set(clear.map(({ id }) => id))}>{t('bmcDiscovery.selectClear', { count: clear.length })}</Button>
        )}
        <Button
          variant="primary"
          blockedReason={blockedReason ?? (chosen.length === 0 ? t('bmcDiscovery.needSelection') : null)}
          onClick={() => setAssigning(true)}
        >
          {chosen.length === 0 ? t('bmcDiscovery.assignNone') : t('bmcDiscovery.assign', { count: chosen.length })}
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
          discovery={discovery}
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
