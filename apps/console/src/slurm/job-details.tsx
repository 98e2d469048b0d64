import Link from 'next/link'
import { formatBytes, formatDateTime, formatDuration } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { ButtonLink } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { recordHref } from './accounting/ended-line.tsx'
import { PriorityPanel } from './accounting/priority-panel.tsx'
import { ClusterState, DataAge, jobTone } from './badges.tsx'
import { clusterHref } from './cluster-card.tsx'
import type { JobDetails } from './cluster-documents.ts'
import { resourcesOf } from './job-line.tsx'
import { jobReasonText } from './job-reason.ts'

const MIB = 1024 * 1024

type Row = [label: string, value: React.ReactNode]
const optional = (label: string, value: string | null): Row[] => (value ? [[label, value]] : [])
const time = (label: string, at: string | null): Row[] => (at ? [[label, formatDateTime(at)]] : [])

/** Everything that Slurm says about a job. */
export function JobDetailsView({ job }: { job: JobDetails }) {
  const isPending = job.state === 'PENDING'
  const isEnded = !isPending && !['RUNNING', 'SUSPENDED', 'COMPLETING'].includes(job.state)
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
              ...time(isEnded ? t('slurmJob.ended') : t('slurmJob.endsBy'), job.endAt),
              [
                t('slurmJob.timeLimit'),
                job.isTimeUnlimited
                  ? t('slurmJob.unlimited')
                  : job.timeLimitMinutes === null
                    ? t('slurmJob.partitionDefault')
                    : formatDuration(job.timeLimitMinutes * 60_000),
              ],
              ...(isEnded && job.exitCode !== null
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
              ...job.tres.map(
                ({ name, amount }): Row => [name, name === 'mem' ? formatBytes(amount * MIB) : formatNumber(amount)],
              ),
              ...optional(t('slurmJob.licenses'), job.licenses),
              [t('slurmJob.user'), job.user ?? t('common.none')],
              ...optional(t('slurmJob.account'), job.account),
              [t('slurmJob.partition'), job.partition],
              ...optional(t('slurmJob.qos'), job.qos),
              ...optional(t('slurmJob.reservation'), job.reservation),
              ...optional(t('slurmJob.workingDirectory'), job.workingDirectory),
              ...optional(t('slurmJob.comment'), job.comment),
            ]}
          />
        </Panel>
      </div>
      {isPending && <PriorityPanel clusterId={job.cluster.id} jobId={job.jobId} />}
      {isEnded && (
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
