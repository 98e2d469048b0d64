'use client'
import { SearchX } from 'lucide-react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { type JobRecord, LookUpJobs } from './documents.ts'
import { FinishedJobLine } from './finished-job-line.tsx'
import { JobRecordView } from './job-record.tsx'
import { NoAccounting } from './no-accounting.tsx'
import { useLookup } from './use-lookup.ts'

/** A job as the accounting of its cluster recorded it, read when the panel is opened. */
export function RecordPanel({ clusterId, jobId }: { clusterId: string; jobId: string }) {
  const isNarrow = useNarrow()
  const { run } = useMutation(LookUpJobs)
  const { result, error, isUnrecorded, retry } = useLookup(`${clusterId} ${jobId}`, () => run({ input: { clusterId, jobId } }))
  if (error !== null && isUnrecorded) return <NoAccounting clusterId={clusterId} message={error} />
  if (error !== null) return <Failure title={t('slurmHistory.loadOneFailed')} message={error} onRetry={retry} />
  if (!result) return <Skeleton className="h-96 w-full" />
  // The last start of a job that was requeued is the last record.
  const job = result.jobs.findLast((one) => one.jobId === jobId)
  if (result.jobs.length === 0)
    return (
      <Empty icon={<SearchX aria-hidden />} title={t('slurmHistory.unknownTitle')}>
        <p>{t('slurmHistory.unknownText')}</p>
      </Empty>
    )
  const isComponent = ({ jobId }: JobRecord) => jobId.includes('+')
  const parts = result.jobs.filter((one) => one.jobId !== jobId)
  const lists = [
    { title: t('slurmHistory.otherStarts'), jobs: result.jobs.filter((one) => one.jobId === jobId && one !== job) },
    { title: t('slurmHistory.tasks'), jobs: parts.filter((one) => !isComponent(one)) },
    { title: t('slurmHistory.components'), jobs: parts.filter(isComponent) },
  ]
  return (
    <div className="flex flex-col gap-4">
      {job && <JobRecordView job={job} />}
      {lists
        .filter(({ jobs }) => jobs.length > 0)
        .map(({ title, jobs }) => (
          <Panel key={title} title={title} flush>
            {jobs.map((one) => (
              <div key={`${one.jobId} ${one.startAt}`} className={isNarrow ? 'h-17' : 'h-11'}>
                <FinishedJobLine job={one} clusterId={clusterId} isNarrow={isNarrow} />
              </div>
            ))}
          </Panel>
        ))}
    </div>
  )
}
