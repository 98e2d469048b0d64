'use client'
import { useEffect, useRef, useState } from 'react'
import { useLive } from '@/graphql/use-live.ts'
import { t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { type Action, ActionUpdated } from './documents.ts'

const tones: Record<Action['results'][number]['result'], Tone> = {
  DONE: 'ok',
  UNCHANGED: 'neutral',
  REFUSED: 'bad',
  NOT_VERIFIED: 'warn',
  NOT_FOUND: 'bad',
  NOT_SENT: 'bad',
}
export const statusTones: Record<Action['status'], Tone> = {
  PENDING: 'neutral',
  RUNNING: 'accent',
  SUCCEEDED: 'ok',
  PARTIAL: 'warn',
  FAILED: 'bad',
}

/** An action with the result of each target, live. It continues when its dialog is closed. */
export function ActionProgress({ id, onClose, onDone }: { id: string; onClose: () => void; onDone?: (() => void) | undefined }) {
  const [action, setAction] = useState<Action | null>(null)
  useLive(ActionUpdated, action?.finishedAt ? null : { id }, ({ slurmActionUpdated }) => setAction(slurmActionUpdated))
  const done = useRef(onDone)
  done.current = onDone
  const finishedAt = action?.finishedAt
  useEffect(() => {
    if (finishedAt) done.current?.()
  }, [finishedAt])
  if (!action) return <Skeleton className="h-32 w-full" />
  return (
    <div className="flex flex-col gap-4 text-sm">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1" aria-live="polite">
        <span data-testid="slurm-action" data-status={action.status}>
          <State tone={statusTones[action.status]} busy={!action.finishedAt}>
            {t(`slurmActionStatus.${action.status}`)}
          </State>
        </span>
        {action.results.map(({ result, count }) => (
          <span key={result} className="text-xs text-muted tabular-nums">
            {t(`slurmResult.${result}`)}: {count}
          </span>
        ))}
      </div>
      {action.error && <Notice tone="bad">{action.error}</Notice>}
      <ul className="flex max-h-80 flex-col overflow-auto rounded-lg border border-line">
        {action.items.edges.map(({ node: { target, before, after, result, message } }) => (
          <li
            key={target}
            className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line px-3 py-1.5 last:border-0"
          >
            <span className="font-mono text-xs font-medium">{target}</span>
            <span className="font-mono text-xs text-muted">
              {before}
              {after && after !== before ? ` → ${after}` : ''}
            </span>
            <span className="ml-auto">
              {result ? <State tone={tones[result]}>{t(`slurmResult.${result}`)}</State> : <span className="text-faint">…</span>}
            </span>
            {message && <p className="w-full text-xs break-words whitespace-pre-line text-bad">{message}</p>}
          </li>
        ))}
      </ul>
      {action.targetCount > action.items.edges.length && (
        <p className="text-xs text-muted">{t('slurmAction.more', { count: action.targetCount - action.items.edges.length })}</p>
      )}
      <div className="flex justify-end">
        <Button variant="primary" onClick={onClose}>
          {t('common.close')}
        </Button>
      </div>
    </div>
  )
}
