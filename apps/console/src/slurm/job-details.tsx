import Link from 'next/link'
import { formatNumber, t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { ButtonLink } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { recordHref } from './accounting/finished-job-line.tsx'
import { PriorityPanel } from './accounting/priority-panel.tsx'
import { ClusterState, DataAge, jobTone } from './badges.tsx'
import { clusterHref } from './cluster-card.tsx'
import type { JobDetails } from './cluster-documents.ts'
import { resourcesOf } from './job-line.tsx'
import { jobReasonText } from './job-reason.ts'
import { optional, type Row, submissionRows, time, timeLimitRow, tresRows } from './job-rows.ts'

/** Everything that Slurm says about a job. */
export function JobDetailsView({ job }: { job: JobDetails }) {
  const isPending = job.state === 'PENDING'
  const isFinished = !isPending && !['RUNNING', 'SUSPENDED', 'COMPLETING'].includes(job.state)
  const plain = jobReasonText(job.reason)
  return (
    <div className="flex flex-col gap-4">
      {isPending && plain && <Notice title={plain}>{job.reasonDetail ?? job.reason}</Notice>}
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title={t('slurmJob.state')}>
          <PropertyList
            rows={[
              [
                t('slurmJob.state'),
                <State key="s" tone={jobTone(job.state)}>
                  <span className="font-mono text-xs">{job.states.join('+')}</span>
                </State>,
              ],
              ...optional(t('slurmJob.reason'), job.reasonDetail ?? job.reason),
              ...time(t('slurmJob.submitted'), job.submittedAt),
              ...time(isPending ? t('slurmJob.expected') : t('slurmJob.started'), job.startAt),
              ...time(isFinished ? t('slurmJob.ended') : t('slurmJob.endsBy'), job.endAt),
              timeLimitRow(job),
              ...(isFinished && job.exitCode !== null
                ? [
                    [
                      t('slurmJob.exit'),
                      job.exitSignal
                        ? t('slurmJob.exitSignal', { code: String(job.exitCode), signal: String(job.exitSignal) })
                        : String(job.exitCode),
                    ] as Row,
                  ]
                : []),
              ...optional(t('slurmJob.dependency'), job.dependency),
              [t('slurmJob.priority'), job.priority === null ? t('common.none') : formatNumber(job.priority)],
            ]}
          />
        </Panel>
        <Panel title={t('slurmJob.resources')}>
          <PropertyList
            rows={[
              [isPending ? t('slurmJob.requested') : t('slurmJob.resources'), resourcesOf(job)],
              ...optional(t('slurmJob.nodes'), job.nodeList),
              ...tresRows(job),
              ...optional(t('slurmJob.licenses'), job.licenses),
              ...submissionRows(job),
            ]}
          />
        </Panel>
      </div>
      {isPending && <PriorityPanel clusterId={job.cluster.id} jobId={job.jobId} />}
      {isFinished && (
        <p>
          <ButtonLink href={recordHref(job.cluster.id, job.jobId)}>{t('slurmHistory.openRecord')}</ButtonLink>
        </p>
      )}
      <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
        <Link href={clusterHref(job.cluster.id)} className="underline underline-offset-2">
          {job.cluster.name}
        </Link>
        <ClusterState cluster={job.cluster} />
        <DataAge cluster={job.cluster} />
      </p>
    </div>
  )
}
