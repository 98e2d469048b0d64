'use client'
import { SearchX } from 'lucide-react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { LookUpJobs } from './documents.ts'
import { EndedLine } from './ended-line.tsx'
import { JobRecordView } from './job-record.tsx'
import { useLookup } from './use-lookup.ts'

/** A job as the accounting of its cluster recorded it, read when the panel is opened. */
export function RecordPanel({ clusterId, jobId }: { clusterId: string; jobId: string }) {
  const isNarrow = useNarrow()
  const { run } = useMutation(LookUpJobs)
  const { result, error, retry } = useLookup(`${clusterId} ${jobId}`, () => run({ input: { clusterId, jobId } }))
  if (error !== null) return <Failure title={t('slurmHistory.loadOneFailed')} message={error} onRetry={retry} />
  if (!result) return <Skeleton className="h-96 w-full" />
  // The last start of a job that was requeued is the last record.
  const job = result.jobs.findLast((one) => one.jobId === jobId)
  const others = result.jobs.filter((one) => one !== job)
  if (result.jobs.length === 0)
    return (
      <Empty icon={<SearchX aria-hidden />} title={t('slurmHistory.unknownTitle')}>
        <p>{t('slurmHistory.unknownText')}</p>
      </Empty>
    )
  return (
    <div className="flex flex-col gap-4">
      {job && <JobRecordView job={job} />}
      {others.length > 0 && (
        <Panel title={job ? t('slurmHistory.otherStarts') : t('slurmHistory.tasks')} flush>
          {others.map((one) => (
            <div key={`${one.jobId} ${one.startAt}`} className={isNarrow ? 'h-17' : 'h-11'}>
              <EndedLine job={one} clusterId={clusterId} isNarrow={isNarrow} />
            </div>
          ))}
        </Panel>
      )}
    </div>
  )
}
