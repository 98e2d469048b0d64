import clsx from 'clsx'

/** A placeholder of the final size while content loads. */
export function Skeleton({ className }: { className?: string }) {
  return <div className={clsx('skeleton', className ?? 'h-4 w-24')} aria-hidden />
}

/** Classes, because the server renders placeholders and the content security policy has no exception for style attributes. */
const HEIGHTS = {
  36: 'h-9',
  40: 'h-10',
  44: 'h-11',
  48: 'h-12',
  56: 'h-14',
  60: 'h-15',
  68: 'h-17',
  76: 'h-19',
  80: 'h-20',
  104: 'h-26',
  110: 'h-27.5',
} as const

/** Placeholder rows of a loading list. @param height of a row in px */
export function SkeletonRows({ rows, height }: { rows: number; height: keyof typeof HEIGHTS }) {
  return (
    <div aria-hidden>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical and never reordered
        <div key={index} className={clsx('flex items-center gap-6 border-b border-line px-4', HEIGHTS[height])}>
          <Skeleton className="h-3 w-20" />
          <Skeleton className="h-3 w-40 max-w-[30%]" />
          <Skeleton className="h-3 w-28" />
          <Skeleton className="ml-auto h-3 w-14" />
        </div>
      ))}
    </div>
  )
}
