import Link from 'next/link'
import { formatNumber, t } from '@/messages/index.ts'
import { RowCheckbox } from '@/slurm/nodes/row-checkbox.tsx'
import { State } from '@/ui/badge.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { jobTone } from './badges.tsx'
import type { JobRow } from './cluster-documents.ts'
import { jobReasonText } from './job-reason.ts'

export const jobColumns =
  'grid grid-cols-[16px_90px_minmax(110px,1.2fr)_90px_90px_120px_minmax(190px,1.2fr)_minmax(120px,1.4fr)_80px] items-center gap-x-4 px-4 [&>*]:min-w-0'

export const jobHref = (id: string): string => `/slurm/jobs/${encodeURIComponent(id)}`

/** What a job uses or requests, for example "2 nodes, 64 CPUs, 8 gpu:h100". */
export function resourcesOf({ nodeCount, cpus, gres }: Pick<JobRow, 'nodeCount' | 'cpus' | 'gres'>): string {
  return t('slurmJob.use', {
    nodes: nodeCount,
    cpus: formatNumber(cpus),
    gres: gres.map(({ name, type, count }) => `, ${count} ${type ? `${name}:${type}` : name}`).join(''),
  })
}

/** One job: a row, or a card on a phone. A pending job shows why it waits instead of its nodes. */
export function JobLine({
  job,
  isNarrow,
  isSelected,
  onSelect,
}: {
  job: JobRow
  isNarrow: boolean
  isSelected: boolean
  onSelect: (isRange: boolean) => void
}) {
  const checkbox = <RowCheckbox name={job.jobId} isSelected={isSelected} onSelect={onSelect} />
  const isPending = job.state === 'PENDING'
  const id = (
    <Link href={jobHref(job.id)} className="truncate font-mono text-sm font-medium after:absolute after:inset-0 hover:underline">
      {job.jobId}
    </Link>
  )
  const state = (
    <State tone={jobTone(job.state)}>
      <span className="font-mono text-xs">{job.state}</span>
    </State>
  )
  const place = isPending ? (
    <span className="truncate" title={job.reason ?? undefined}>
      {jobReasonText(job.reason) ?? job.reason}
    </span>
  ) : (
    <span className="truncate font-mono" title={job.nodeList}>
      {job.nodeList}
    </span>
  )
  if (isNarrow)
    return (
      <div className="relative flex h-full flex-col justify-center gap-1 border-b border-line px-3">
        <div className="flex items-center justify-between gap-2">
          <span className="flex min-w-0 items-center gap-2">
            {checkbox}
            {id}
            <span className="truncate text-sm">{job.name ?? t('slurmJob.unnamed')}</span>
          </span>
          {state}
        </div>
        <div className="flex items-center justify-between gap-3 text-xs text-muted">
          <span className="shrink-0">{job.user}</span>
          {place}
        </div>
      </div>
    )
  return (
    <div className={`${jobColumns} relative h-full border-b border-line text-sm hover:bg-hover`}>
      {checkbox}
      {id}
      <span className="truncate">{job.name ?? <span className="text-faint">{t('slurmJob.unnamed')}</span>}</span>
      <span className="truncate text-muted">{job.user}</span>
      <span className="truncate text-muted">{job.partition}</span>
      {state}
      <span className="truncate text-xs text-muted">{resourcesOf(job)}</span>
      <span className="min-w-0 truncate text-xs text-muted">{place}</span>
      <span className="text-right text-xs text-muted">
        {isPending ? <RelativeTime at={job.submittedAt} /> : <RelativeTime at={job.startAt} />}
      </span>
    </div>
  )
}
