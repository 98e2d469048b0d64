import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { jobTone } from '../badges.tsx'
import type { JobRecord } from './documents.ts'

/** How a job ended, in Slurm's word. */
export function RecordState({ state, canceledByUid }: Pick<JobRecord, 'state'> & { canceledByUid?: number | null }) {
  return (
    <State tone={jobTone(state)}>
      <span className="font-mono text-xs">{state}</span>
      {canceledByUid != null && (
        <span className="text-xs text-muted">
          {canceledByUid === 0 ? t('slurmHistory.byRoot') : t('slurmHistory.byUid', { uid: String(canceledByUid) })}
        </span>
      )}
    </State>
  )
}

/** The exit code, with a signal unless it is 0. */
export function exitText({ exitCode, exitSignal }: Pick<JobRecord, 'exitCode' | 'exitSignal'>): string {
  if (exitCode === null) return t('common.none')
  return exitSignal ? t('slurmJob.exitSignal', { code: String(exitCode), signal: String(exitSignal) }) : String(exitCode)
}
