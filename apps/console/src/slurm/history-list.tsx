'use client'
import { type ReactNode, useState } from 'react'
import type { Problem } from '@/graphql/use-mutation.ts'
import { Dialog } from '@/ui/dialog.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'
import { HISTORY_HEIGHT, HistoryLine } from './history-line.tsx'

type Row = { id: string; reason: string; createdAt: string; createdBy: { name: string } }
type List<T> = {
  rows: T[]
  problem: Problem | null
  isLoading: boolean
  hasMore: boolean
  more: () => void
  reload: () => Promise<void>
}
type Props<T> = {
  list: List<T>
  label: string
  loadFailed: string
  empty: { icon: ReactNode; title: string; text: string }
  titleOf: (row: T) => string
  stateOf: (row: T) => ReactNode
  /** Title and content of the dialog of a row. `progress` shows the row until it has ended. */
  dialogTitleOf: (row: T) => string
  progress: (dialog: { id: string; onClose: () => void; onDone: () => void }) => ReactNode
}

/** What users did with a cluster, newest first. A line opens its progress. */
export function HistoryList<T extends Row>({
  list,
  label,
  loadFailed,
  empty,
  titleOf,
  stateOf,
  dialogTitleOf,
  progress,
}: Props<T>) {
  const [open, setOpen] = useState<T | null>(null)
  const close = () => setOpen(null)
  if (list.problem && list.rows.length === 0)
    return <Failure title={loadFailed} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading) return <SkeletonRows rows={6} height={HISTORY_HEIGHT} />
  if (list.rows.length === 0)
    return (
      <Empty icon={empty.icon} title={empty.title}>
        <p>{empty.text}</p>
      </Empty>
    )
  return (
    <div className="rounded-lg border border-line bg-panel">
      <VirtualList
        label={label}
        rows={list.rows}
        rowHeight={HISTORY_HEIGHT}
        renderRow={(row) => <HistoryLine title={titleOf(row)} state={stateOf(row)} row={row} onOpen={() => setOpen(row)} />}
        onNearEnd={list.more}
        hasMore={list.hasMore}
      />
      {open && (
        <Dialog wide title={dialogTitleOf(open)} onClose={close}>
          {progress({ id: open.id, onClose: close, onDone: () => void list.reload() })}
        </Dialog>
      )}
    </div>
  )
}
