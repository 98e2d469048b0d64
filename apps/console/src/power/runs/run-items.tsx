'use client'
import Link from 'next/link'
import { useEffect } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'
import { PowerResultBadge } from '../power-badges.tsx'
import { type PowerResult, type PowerRunItem, PowerRunItemsQuery, type PowerRunRow, pickItems } from './documents.ts'

const columns = 'grid grid-cols-[minmax(110px,0.8fr)_130px_150px_minmax(160px,2.4fr)] items-center gap-x-4 px-4'

/** The nodes of a power run with their results. `result` filters them; null shows all. */
export function PowerRunItems({ run, result }: { run: PowerRunRow; result: PowerResult[] | null }) {
  const isNarrow = useNarrow()
  const list = useConnection(`power-run-items`, PowerRunItemsQuery, { id: run.id, result }, pickItems)
  const { reloadDebounced } = list
  const seen = JSON.stringify([run.results, run.finishedAt])
  // biome-ignore lint/correctness/useExhaustiveDependencies: other counts mean other items
  useEffect(reloadDebounced, [seen, reloadDebounced])
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('powerRun.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  return (
    <div className="rounded-lg border border-line bg-panel">
      {!isNarrow && (
        <div
          className={`${columns} sticky top-0 z-10 h-9 rounded-t-lg border-b border-line bg-panel text-xs font-medium text-muted`}
        >
          <span>{t('powerRun.node')}</span>
          <span>{t('powerRun.result')}</span>
          <span>{t('powerRun.state')}</span>
          <span>{t('powerRun.message')}</span>
        </div>
      )}
      {list.isLoading ? (
        <SkeletonRows rows={8} height={44} />
      ) : list.rows.length === 0 ? (
        <p className="p-4 text-sm text-muted">{t('powerRun.noItems')}</p>
      ) : (
        <VirtualList
          label={t('powerRun.nodes')}
          rows={list.rows}
          rowHeight={isNarrow ? 84 : 48}
          hasMore={list.hasMore}
          onNearEnd={list.more}
          renderRow={(item) => <Line item={item} isNarrow={isNarrow} />}
        />
      )}
    </div>
  )
}

function Line({ item, isNarrow }: { item: PowerRunItem; isNarrow: boolean }) {
  const name = item.node ? (
    <Link
      href={`/nodes/${encodeURIComponent(item.node.id)}?tab=power`}
      className="truncate font-mono text-xs font-medium hover:underline"
    >
      {item.nodeName}
    </Link>
  ) : (
    <span className="truncate font-mono text-xs text-muted">{item.nodeName}</span>
  )
  const result = item.result ? (
    <PowerResultBadge result={item.result} />
  ) : (
    <span className="text-faint">{item.sentAt ? t('powerRun.sent') : t('powerRun.waiting')}</span>
  )
  const states = [item.before, item.after]
    .filter((state, i, all) => state !== null && state !== all[i - 1])
    .map((state) => t(`powerState.${state!}`))
    .join(' → ')
  const message = (
    <span className="line-clamp-2 min-w-0 text-xs break-words text-muted" title={item.message ?? undefined}>
      {item.message}
    </span>
  )
  if (isNarrow)
    return (
      <div className="flex h-full flex-col justify-center gap-1 border-b border-line px-3 text-sm">
        <div className="flex items-center justify-between gap-2">
          {name}
          {result}
        </div>
        {states && <span className="text-xs text-muted">{states}</span>}
        {message}
      </div>
    )
  return (
    <div className={`${columns} h-full border-b border-line text-sm`}>
      {name}
      {result}
      <span className="truncate text-xs text-muted">{states}</span>
      {message}
    </div>
  )
}
