import Link from 'next/link'
import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { clusterHref } from '../cluster-card.tsx'
import type { JobRecord } from './documents.ts'
import { exitText, RecordState } from './job-state.tsx'

export const finishedJobColumns =
  'grid grid-cols-[90px_minmax(110px,1.4fr)_90px_110px_minmax(150px,1fr)_110px_minmax(110px,1fr)_90px_80px] items-center gap-x-4 px-4 [&>*]:min-w-0 [&>:last-child]:text-right'

export const recordHref = (clusterId: string, jobId: string): string =>
  `${clusterHref(clusterId)}/jobs/${encodeURIComponent(jobId)}`

/** A finished job: a row, or a card on a phone. */
export function FinishedJobLine({ job, clusterId, isNarrow }: { job: JobRecord; clusterId: string; isNarrow: boolean }) {
  const id = (
    <Link
      href={recordHref(clusterId, job.jobId)}
      className="truncate font-mono text-sm font-medium after:absolute after:inset-0 hover:underline"
    >
      {job.jobId}
    </Link>
  )
  const state = <RecordState {...job} />
  const ended = <RelativeTime at={job.endAt} />
  if (isNarrow)
    return (
      <div className="relative flex h-full flex-col justify-center gap-1 border-b border-line px-3">
        <div className="flex items-center justify-between gap-2">
          <span className="flex min-w-0 items-center gap-2">
            <span className="shrink-0">{id}</span>
            <span className="truncate text-sm">{job.name ?? t('slurmJob.unnamed')}</span>
          </span>
          <span className="shrink-0">{state}</span>
        </div>
        <div className="flex items-center justify-between gap-3 text-xs text-muted">
          <span className="min-w-0 truncate">
            {job.user} · <span className="font-mono">{job.nodeList || t('slurmHistory.notStarted')}</span>
          </span>
          <span className="shrink-0">{ended}</span>
        </div>
      </div>
    )
  return (
    <div className={`${finishedJobColumns} relative h-full border-b border-line text-sm hover:bg-hover`}>
      {id}
      <span className="truncate">{job.name ?? <span className="text-faint">{t('slurmJob.unnamed')}</span>}</span>
      <span className="truncate text-muted">{job.user}</span>
      <span className="truncate text-muted">{job.partition}</span>
      {state}
      <span className="truncate text-xs text-muted">{exitText(job)}</span>
      <span className="truncate font-mono text-xs text-muted" title={job.nodeList}>
        {job.nodeList || <span className="font-sans text-faint">{t('slurmHistory.notStarted')}</span>}
      </span>
      <span className="text-xs text-muted">{formatDuration(job.elapsedSeconds * 1000)}</span>
      <span className="text-xs text-muted">{ended}</span>
    </div>
  )
}
