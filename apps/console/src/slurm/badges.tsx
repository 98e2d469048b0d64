import { t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import { Elapsed, RelativeTime } from '@/ui/relative-time.tsx'
import type { ClusterRow } from './documents.ts'

type Cluster = Pick<ClusterRow, 'state' | 'failingSince' | 'refreshedAt' | 'isRefreshing'>

const clusterTones = { OK: 'ok', NOT_ANSWERING: 'bad', WAITING: 'neutral' } as const satisfies Record<Cluster['state'], Tone>

/** Whether the data of a cluster is current. */
export function ClusterState({ cluster }: { cluster: Cluster }) {
  const { state, failingSince, isRefreshing } = cluster
  return (
    <State tone={clusterTones[state]} busy={state === 'WAITING' || isRefreshing}>
      {state === 'NOT_ANSWERING'
        ? t.rich('slurm.notAnswering', { time: () => <Elapsed from={failingSince} to={null} /> })
        : t(`slurmState.${state}`)}
    </State>
  )
}

/** The age of the data of a cluster. */
export function DataAge({ cluster: { refreshedAt } }: { cluster: Cluster }) {
  return (
    <span className="whitespace-nowrap">
      {refreshedAt ? t.rich('slurm.age', { time: () => <RelativeTime at={refreshedAt} /> }) : t('slurm.neverRead')}
    </span>
  )
}

const nodeTones: Record<string, Tone> = {
  IDLE: 'ok',
  MIXED: 'accent',
  ALLOCATED: 'accent',
  COMPLETING: 'accent',
  PLANNED: 'ok',
  RESERVED: 'neutral',
  MAINT: 'warn',
  REBOOT: 'warn',
  DRAINING: 'warn',
  DRAINED: 'warn',
  FAILING: 'bad',
  FAIL: 'bad',
  DOWN: 'bad',
  INVAL: 'bad',
  UNKNOWN: 'bad',
}

/** The color of a state as sinfo shows it: IDLE* does not respond; IDLE~, IDLE# and UNKNOWN~ have no power yet. */
export function nodeTone(state: string): Tone {
  const word = state.replace(/\W$/, '')
  const suffix = state.slice(word.length)
  if (suffix === '*') return 'bad'
  return ['IDLE', 'UNKNOWN'].includes(word) && suffix ? 'neutral' : (nodeTones[word] ?? 'neutral')
}

const jobTones: Record<string, Tone> = {
  RUNNING: 'accent',
  COMPLETING: 'accent',
  COMPLETED: 'ok',
  PENDING: 'neutral',
  SUSPENDED: 'warn',
  PREEMPTED: 'warn',
  CANCELLED: 'neutral',
}

/** The color of a job's base state; states that are failures are red. */
export const jobTone = (state: string): Tone => jobTones[state] ?? 'bad'

const partitionTones: Record<string, Tone> = { UP: 'ok', DRAIN: 'warn', DOWN: 'bad', INACTIVE: 'neutral' }
export const partitionTone = (state: string): Tone => partitionTones[state] ?? 'neutral'
