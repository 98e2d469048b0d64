import { formatNumber, t } from '@/messages/index.ts'

/** How much of a resource is allocated, as a bar with numbers. */
export function UseBar({ label, used, total, none }: { label: string; used: number; total: number; none?: string }) {
  const percent = total > 0 ? Math.min(100, Math.round((used / total) * 100)) : 0
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex items-baseline justify-between gap-2 text-xs">
        <span className="text-muted">{label}</span>
        <span className="tabular-nums">
          {total > 0
            ? t('slurm.allocated', { used: formatNumber(used), total: formatNumber(total) })
            : (none ?? t('common.none'))}
        </span>
      </div>
      <progress
        className="h-1.5 w-full appearance-none overflow-hidden rounded-full bg-sunken [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-text/10 [&::-webkit-progress-value]:bg-accent"
        aria-label={label}
        max={100}
        value={percent}
      />
    </div>
  )
}
