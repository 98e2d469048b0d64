import { SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Problem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'

const NARROW_HEIGHT = 68

type Props<T extends { id: string }> = {
  /** As `useConnection` returns it. */
  list: {
    rows: T[]
    problem: Problem | null
    isLoading: boolean
    hasMore: boolean
    more: () => void
    reload: () => unknown
  }
  isNarrow: boolean
  label: string
  failed: string
  /** Height of a row in px; on a phone all rows are cards of one height. */
  height: 40 | 44
  /** Classes and names of the columns, which a phone does not show. */
  columns: string
  head: readonly string[]
  renderRow: (row: T, index: number) => ReactNode
  /** Another view of the loaded rows. */
  view?: ReactNode
}

/** Nodes or jobs of a cluster: their failure, absence, loading and rows. */
export function ClusterListBody<T extends { id: string }>({
  list,
  isNarrow,
  label,
  failed,
  height,
  columns,
  head,
  renderRow,
  view,
}: Props<T>) {
  const rowHeight = isNarrow ? NARROW_HEIGHT : height
  if (list.problem && list.rows.length === 0)
    return <Failure title={failed} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading) return <SkeletonRows rows={10} height={rowHeight} />
  if (list.rows.length === 0) return <Empty icon={<SearchX aria-hidden />} title={t('slurm.filterNoMatch')} />
  if (view) return view
  return (
    <div className="rounded-lg border border-line bg-panel">
      {!isNarrow && (
        <div
          className={`${columns} sticky top-0 z-10 h-9 rounded-t-lg border-b border-line bg-panel text-xs font-medium text-muted`}
        >
          <span />
          {head.map((name) => (
            <span key={name}>{name}</span>
          ))}
        </div>
      )}
      <VirtualList
        label={label}
        rows={list.rows}
        rowHeight={rowHeight}
        renderRow={renderRow}
        onNearEnd={list.more}
        hasMore={list.hasMore}
      />
    </div>
  )
}
