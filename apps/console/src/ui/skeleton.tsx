import { cx } from './cx.ts'

/** A grey place of the final size, while the content is on its way. */
export function Skeleton({ className }: { className?: string }) {
  return <div className={cx('skeleton', className ?? 'h-4 w-24')} aria-hidden />
}

/** Rows of a list that is loading. */
export function SkeletonRows({ rows, height }: { rows: number; height: number }) {
  return (
    <div aria-hidden>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: these rows are all alike and never move
        <div key={index} className="flex items-center gap-6 border-b border-line px-4" style={{ height }}>
          <Skeleton className="h-3 w-20" />
          <Skeleton className="h-3 w-40 max-w-[30%]" />
          <Skeleton className="h-3 w-28" />
          <Skeleton className="ml-auto h-3 w-14" />
        </div>
      ))}
    </div>
  )
}
