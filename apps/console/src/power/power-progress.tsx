'use client'
import Link from 'next/link'
import { useEffect, useRef, useState } from 'react'
import { useLive } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { DialogActions } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { CancelPowerRun, type PowerRunProgress, PowerRunUpdated } from './documents.ts'
import { PowerResultBadge, statusTones } from './power-badges.tsx'
import { powerRunHref } from './runs/documents.ts'

/** A power run with the result of each node, live. It continues when its dialog is closed. */
export function PowerProgress({ id, onClose, onDone }: { id: string; onClose: () => void; onDone?: () => void }) {
  const [run, setRun] = useState<PowerRunProgress | null>(null)
  const cancel = useMutation(CancelPowerRun)
  useLive(PowerRunUpdated, run?.finishedAt ? null : { id }, ({ powerRunUpdated }) => setRun(powerRunUpdated))
  const done = useRef(onDone)
  done.current = onDone
  const finishedAt = run?.finishedAt
  useEffect(() => {
    if (finishedAt) done.current?.()
  }, [finishedAt])
  if (!run) return <Skeleton className="h-32 w-full" />
  return (
    <div className="flex flex-col gap-4 text-sm">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1" aria-live="polite">
        <span data-testid="power-run" data-status={run.status}>
          <State tone={statusTones[run.status]} busy={!run.finishedAt}>
            {t(`powerRunStatus.${run.status}`)}
          </State>
        </span>
        {run.results.map(({ result, count }) => (
          <span key={result} className="text-xs text-muted tabular-nums">
            {t(`powerResult.${result}`)}: {count}
          </span>
        ))}
        {run.canceledBy && <span className="text-xs text-muted">{t('power.canceledBy', { name: run.canceledBy })}</span>}
      </div>
      {cancel.problem && <Notice tone="bad">{cancel.problem.message}</Notice>}
      <ul className="flex max-h-96 flex-col divide-y divide-line overflow-y-auto rounded-md border border-line">
        {run.items.edges.map(({ node: { nodeName, before, after, result, message } }) => (
          <li key={nodeName} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-3 py-2">
            <span className="font-mono text-xs font-medium">{nodeName}</span>
            <span className="text-xs text-muted">
              {[before, after]
                .filter((state, i, all) => state !== null && state !== all[i - 1])
                .map((state) => t(`powerState.${state!}`))
                .join(' → ')}
            </span>
            <span className="ml-auto">
              {result ? <PowerResultBadge result={result} /> : <span className="text-faint">…</span>}
            </span>
            {message && <p className="w-full text-xs break-words text-muted">{message}</p>}
          </li>
        ))}
      </ul>
      {run.targetCount > run.items.edges.length && (
        <p className="text-xs text-muted">{t('power.more', { count: run.targetCount - run.items.edges.length })}</p>
      )}
      <DialogActions>
        <Link href={powerRunHref(id)} className="mr-auto text-sm text-accent hover:underline">
          {t('powerRun.open')}
        </Link>
        {!run.finishedAt && (
          <Button
            busy={cancel.busy || run.status === 'CANCELING'}
            onClick={() => {
              void cancel.run({ id })
            }}
          >
            {t('power.cancelRun')}
          </Button>
        )}
        <Button variant="primary" onClick={onClose}>
          {t('common.close')}
        </Button>
      </DialogActions>
    </div>
  )
}
