import type { ReactNode } from 'react'
import { RelativeTime } from '@/ui/relative-time.tsx'

/** Height of a `HistoryLine` in a list. */
export const HISTORY_HEIGHT = 60

type Props = {
  title: string
  /** Beside the title. */
  badge?: ReactNode
  /** At the end of the line. */
  state?: ReactNode
  row: { reason: string; createdAt: string; createdBy: { name: string } }
  onOpen: () => void
}

/** Something that a user did with a cluster: what, why, by whom and when. The whole line opens it. */
export function HistoryLine({ title, badge, state, row: { reason, createdAt, createdBy }, onOpen }: Props) {
  return (
    <div className="relative flex h-full flex-col justify-center gap-1 border-b border-line px-4 text-sm hover:bg-hover">
      <div className="flex items-center gap-3">
        <button
          type="button"
          onClick={onOpen}
          className="min-w-0 truncate text-left font-medium after:absolute after:inset-0 hover:underline"
        >
          {title}
        </button>
        {badge}
        {state && <span className="ml-auto shrink-0">{state}</span>}
      </div>
      <p className="flex gap-3 text-xs text-muted">
        <span className="min-w-0 truncate">{reason}</span>
        <span className="ml-auto shrink-0">
          {createdBy.name} · <RelativeTime at={createdAt} />
        </span>
      </p>
    </div>
  )
}
