import clsx from 'clsx'

/** A placeholder of the final size while content loads. */
export function Skeleton({ className }: { className?: string }) {
  return <div className={clsx('skeleton', className ?? 'h-4 w-24')} aria-hidden />
}

/** Placeholder rows of a loading list. */
export function SkeletonRows({ rows, height }: { rows: number; height: number }) {
  return (
    <div aria-hidden>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical and never reordered
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
