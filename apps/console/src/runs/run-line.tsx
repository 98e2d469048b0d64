'use client'
import Link from 'next/link'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Elapsed, RelativeTime } from '@/ui/relative-time.tsx'
import { HostBar, RunStatus } from './badges.tsx'
import type { RunRow } from './documents.ts'

export const runColumns =
  'grid grid-cols-[130px_minmax(160px,1.4fr)_minmax(120px,1.4fr)_130px_90px_minmax(90px,0.8fr)_76px] items-center gap-x-4 px-4'

export function runHref(id: string): string {
  return `/runs/${encodeURIComponent(id)}`
}

/** One run in a list; a card on a phone. */
export function RunLine({ run, isNarrow }: { run: RunRow; isNarrow: boolean }) {
  const name = (
    <Link href={runHref(run.id)} className="truncate font-medium after:absolute after:inset-0 hover:underline">
      {run.template.displayName}
    </Link>
  )
  const elapsed = run.startedAt ? (
    <Elapsed from={run.startedAt} to={run.finishedAt} />
  ) : (
    <span className="text-faint">{t('common.none')}</span>
  )
  if (isNarrow) {
    return (
      <div className="relative flex h-full flex-col justify-center gap-1.5 border-b border-line px-3">
        <div className="flex items-center justify-between gap-2">
          {name}
          <RunStatus status={run.status} reason={run.statusReason} />
        </div>
        <div className="flex items-center justify-between gap-2 text-xs text-muted">
          <HostBar run={run} />
          <span>
            <RelativeTime at={run.createdAt} />
          </span>
        </div>
      </div>
    )
  }
  return (
    <div className={`${runColumns} relative h-full border-b border-line text-sm hover:bg-hover`}>
      <RunStatus status={run.status} reason={run.statusReason} />
      <span className="flex min-w-0 items-center gap-2">
        <span className="text-xs text-muted tabular-nums">{t('runs.number', { number: String(run.number) })}</span>
        {name}
        {run.checkMode && <Badge>{t('runs.check')}</Badge>}
      </span>
      <span className="truncate font-mono text-xs text-muted">
        {run.limit ?? t('runs.hosts', { count: run.hostCounts.total })}
      </span>
      <HostBar run={run} />
      <span className="text-muted">{elapsed}</span>
      <span className="truncate text-muted">{run.createdBy.name}</span>
      <span className="text-right text-xs text-muted">
        <RelativeTime at={run.createdAt} />
      </span>
    </div>
  )
}
