import { t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import type { RunHost, RunRow } from './documents.ts'

type Status = RunRow['status']
const tones: Record<Status, Tone> = {
  PENDING: 'neutral',
  RUNNING: 'accent',
  CANCELING: 'warn',
  SUCCEEDED: 'ok',
  PARTIAL: 'warn',
  FAILED: 'bad',
  CANCELED: 'neutral',
  TIMED_OUT: 'bad',
  ERROR: 'bad',
}
const unfinished: readonly Status[] = ['PENDING', 'RUNNING', 'CANCELING']
export const runStatuses = Object.keys(tones) as Status[]

export function isUnfinished(status: Status): boolean {
  return unfinished.includes(status)
}

/** A run's status with the reason as title; pulses while unfinished. */
export function RunStatus({ status, reason }: { status: Status; reason?: string | null }) {
  return (
    <State tone={tones[status]} busy={isUnfinished(status)} title={reason ?? undefined}>
      {t(`runStatus.${status}`)}
    </State>
  )
}

export const hostTones: Record<RunHost['result'], Tone> = {
  PENDING: 'neutral',
  RUNNING: 'accent',
  OK: 'ok',
  CHANGED: 'warn',
  FAILED: 'bad',
  UNREACHABLE: 'bad',
  SKIPPED: 'neutral',
  INTERRUPTED: 'warn',
  NOT_RUN: 'neutral',
  OFFLINE: 'warn',
}

/** Host results of a run as a bar and a count. */
export function HostBar({ run }: { run: Pick<RunRow, 'hostCounts'> }) {
  const { total, ok, failed, unreachable } = run.hostCounts
  const bad = failed + unreachable
  const label = t('runs.hostBar', { ok, failed, unreachable, total })
  return (
    <span className="inline-flex items-center gap-2" title={label}>
      <span className="flex h-1.5 w-16 overflow-hidden rounded-full bg-line" aria-hidden>
        <span className="bg-ok-dot" style={{ width: `${total ? (ok / total) * 100 : 0}%` }} />
        <span className="bg-bad-dot" style={{ width: `${total ? (bad / total) * 100 : 0}%` }} />
      </span>
      <span className="text-xs text-muted tabular-nums">{t('runs.hostCount', { ok, total })}</span>
      <span className="sr-only">{label}</span>
    </span>
  )
}
