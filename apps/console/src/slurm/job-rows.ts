import { formatBytes, formatDateTime, formatDuration } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import type { JobRecord } from './accounting/documents.ts'

const MIB = 1024 * 1024

export type Row = [label: string, value: React.ReactNode]

/** No row without a value. */
export const optional = (label: string, value: string | null): Row[] => (value ? [[label, value]] : [])

/** No row without a time. */
export const time = (label: string, at: string | null): Row[] => (at ? [[label, formatDateTime(at)]] : [])

export const timeLimitRow = ({
  isTimeUnlimited,
  timeLimitMinutes,
}: Pick<JobRecord, 'isTimeUnlimited' | 'timeLimitMinutes'>): Row => [
  t('slurmJob.timeLimit'),
  isTimeUnlimited
    ? t('slurmJob.unlimited')
    : timeLimitMinutes === null
      ? t('slurmJob.partitionDefault')
      : formatDuration(timeLimitMinutes * 60_000),
]

/** Trackable resources, in Slurm's words. */
export const tresRows = ({ tres }: Pick<JobRecord, 'tres'>): Row[] =>
  tres.map(({ name, amount }) => [name, name === 'mem' ? formatBytes(amount * MIB) : formatNumber(amount)])

type Submission = Pick<JobRecord, 'user' | 'account' | 'partition' | 'qos' | 'reservation' | 'workingDirectory' | 'comment'>

/** How the job was submitted: by whom, where to, and with which options. */
export const submissionRows = (job: Submission): Row[] => [
  [t('slurmJob.user'), job.user ?? t('common.none')],
  ...optional(t('slurmJob.account'), job.account),
  [t('slurmJob.partition'), job.partition],
  ...optional(t('slurmJob.qos'), job.qos),
  ...optional(t('slurmJob.reservation'), job.reservation),
  ...optional(t('slurmJob.workingDirectory'), job.workingDirectory),
  ...optional(t('slurmJob.comment'), job.comment),
]
