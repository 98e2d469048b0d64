'use client'
import Link from 'next/link'
import { useEffect, useRef, useState } from 'react'
import { useLive } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { DialogActions } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { CancelOperation, type Operation, OperationUpdated } from './documents.ts'
import { phaseText, stepText } from './step-text.ts'

export const operationTones: Record<Operation['status'], Tone> = {
  PENDING: 'neutral',
  RUNNING: 'accent',
  SUCCEEDED: 'ok',
  PARTIAL: 'warn',
  FAILED: 'bad',
  CANCELED: 'neutral',
}
const stepTones = { RUNNING: 'accent', DONE: 'ok', FAILED: 'bad' } as const
const FINAL = ['IN_SERVICE', 'CLEANED', 'SAME']

const checkTones = { OK: 'ok', WARNING: 'warn', FAILED: 'bad' } as const
type Checks = Operation['nodes']['edges'][number]['node']['checks']

/** What was found on a node and what the states of Salt have returned, folded. */
function NodeChecks({ checks }: { checks: Checks }) {
  return (
    <details className="w-full text-xs text-muted">
      <summary className="cursor-pointer">{t('slurmScale.checkCount', { count: checks.length })}</summary>
      <ul className="mt-1 flex flex-col gap-1">
        {checks.map(({ name, state, message }) => (
          <li key={`${name} ${message}`} className="flex items-baseline gap-x-2">
            <State tone={checkTones[state]}>
              <span className="font-mono">{name}</span>
            </State>
            <span className="min-w-0 break-words">{message}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** An operation with its steps and the progress of each node, live. It continues when its dialog is closed. */
export function OperationProgress({ id, onClose, onDone }: { id: string; onClose: () => void; onDone: () => void }) {
  const [operation, setOperation] = useState<Operation | null>(null)
  const cancel = useMutation(CancelOperation)
  useLive(OperationUpdated, operation?.finishedAt ? null : { id }, ({ slurmOperationUpdated }) =>
    setOperation(slurmOperationUpdated),
  )
  const done = useRef(onDone)
  done.current = onDone
  const finishedAt = operation?.finishedAt
  useEffect(() => {
    if (finishedAt) done.current()
  }, [finishedAt])
  if (!operation) return <Skeleton className="h-32 w-full" />
  return (
    <div className="flex flex-col gap-4 text-sm">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1" aria-live="polite">
        <span data-testid="slurm-operation" data-status={operation.status}>
          <State tone={operationTones[operation.status]} busy={!operation.finishedAt}>
            {t(`slurmOperationStatus.${operation.status}`)}
          </State>
        </span>
        <span className="text-xs text-muted">{operation.reason}</span>
      </div>
      {operation.error && <Notice tone="bad">{operation.error}</Notice>}
      {cancel.problem && <Notice tone="bad">{cancel.problem.message}</Notice>}
      <ol className="flex flex-col gap-1">
        {operation.steps.map(({ name, state, message, jobRunId }) => (
          <li key={name} className="flex flex-wrap items-baseline gap-x-3">
            <State tone={stepTones[state]} busy={state === 'RUNNING' && !operation.finishedAt}>
              {stepText(name)}
            </State>
            {jobRunId && (
              <Link href={`/runs/${jobRunId}`} className="text-xs hover:underline">
                {t('slurmScale.log')}
              </Link>
            )}
            {message && <span className="text-xs break-words text-muted">{message}</span>}
          </li>
        ))}
      </ol>
      <ul className="flex max-h-80 flex-col overflow-auto rounded-lg border border-line" aria-label={t('slurm.nodes')}>
        {operation.nodes.edges.map(({ node: { name, phase, isFailed, message, checks } }) => (
          <li key={name} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line px-3 py-1.5 last:border-0">
            <span className="font-mono text-xs font-medium">{name}</span>
            <span className="ml-auto">
              <State tone={isFailed ? 'bad' : FINAL.includes(phase) ? 'ok' : 'neutral'}>
                {isFailed ? t('slurmScale.failed') : phaseText(phase)}
              </State>
            </span>
            {message && <p className={`w-full text-xs break-words ${isFailed ? 'text-bad' : 'text-muted'}`}>{message}</p>}
            {checks
              .filter(({ state }) => state === 'WARNING')
              .map((check) => (
                <p key={`${check.name} ${check.message}`} className="w-full text-xs break-words text-warn">
                  {check.name}: {check.message}
                </p>
              ))}
            {checks.length > 0 && <NodeChecks checks={checks} />}
          </li>
        ))}
      </ul>
      <DialogActions>
        {!operation.finishedAt && (
          <Button
            variant="danger"
            busy={cancel.busy}
            blockedReason={operation.cancelRequestedAt ? t('slurmScale.canceling') : null}
            onClick={() => void cancel.run({ id })}
          >
            {t('slurmScale.cancel')}
          </Button>
        )}
        <Button variant="primary" onClick={onClose}>
          {t('common.close')}
        </Button>
      </DialogActions>
    </div>
  )
}
