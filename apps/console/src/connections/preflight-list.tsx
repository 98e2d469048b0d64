'use client'
import clsx from 'clsx'
import { ChevronRight, CircleCheck, CircleDashed, CircleMinus, CircleX, KeyRound, LoaderCircle } from 'lucide-react'
import { useState } from 'react'
import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { formatAddress, NodeHealth } from '@/nodes/badges.tsx'
import type { Preflight } from '@/nodes/documents.ts'
import { Button } from '@/ui/button.tsx'
import { HostKeysDialog } from './host-keys-dialog.tsx'
import { keysToApprove } from './keys-to-approve.ts'

type Stage = Preflight['stages'][number]
const order = ['RESOLVE', 'TCP', 'BANNER', 'HOST_KEY', 'AUTHENTICATION', 'SHELL', 'SUDO', 'PYTHON', 'ANSIBLE'] as const
const icons = { OK: CircleCheck, FAILED: CircleX, SKIPPED: CircleMinus }
const stateColors = { OK: 'text-ok', FAILED: 'text-bad', SKIPPED: 'text-faint' }

function StageLine({ stage }: { stage: Stage }) {
  const Icon = icons[stage.state]
  return (
    <li className="flex gap-2 py-1 text-sm">
      <Icon
        className={clsx('mt-0.5 size-4 shrink-0', stateColors[stage.state])}
        aria-label={t(`preflightState.${stage.state}`)}
      />
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline justify-between gap-3">
          <span>
            {t(`preflight.${stage.stage}`)}
            {stage.hop && <span className="pl-1.5 text-xs text-muted">{t('preflight.hop', { hop: stage.hop })}</span>}
          </span>
          <span className="text-xs text-faint tabular-nums">
            {stage.state === 'SKIPPED' ? t('preflightState.SKIPPED') : formatDuration(stage.durationMs)}
          </span>
        </div>
        {stage.detail && <p className="text-xs break-words text-muted">{stage.detail}</p>}
        {stage.hint && stage.state === 'FAILED' && <p className="text-xs break-words text-bad">{stage.hint}</p>}
      </div>
    </li>
  )
}

/** The stages of one test: finished, running, pending. */
function Stages({ test }: { test: Preflight }) {
  const done = new Set(test.stages.map((stage) => stage.stage))
  const last = Math.max(
    -1,
    ...test.stages.filter((stage) => !stage.hop || stage.stage !== 'RESOLVE').map((stage) => order.indexOf(stage.stage)),
  )
  const rest = test.finishedAt ? [] : order.filter((name, index) => !done.has(name) && index > last)
  return (
    <ul>
      {test.stages.map((stage) => (
        <StageLine key={`${stage.hop} ${stage.stage}`} stage={stage} />
      ))}
      {rest.map((name, index) => (
        <li key={name} className="flex gap-2 py-1 text-sm text-faint">
          {index === 0 ? (
            <LoaderCircle className="mt-0.5 size-4 animate-spin" aria-hidden />
          ) : (
            <CircleDashed className="mt-0.5 size-4" aria-hidden />
          )}
          {t(`preflight.${name}`)}
        </li>
      ))}
    </ul>
  )
}

/** A short status of a test: ready, failed stage, or current stage. */
function summary(test: Preflight): string {
  if (test.isOk) return t('test.ok')
  const failed = test.stages.find((stage) => stage.state === 'FAILED')
  if (failed)
    return failed.stage === 'HOST_KEY' && failed.offeredKey && !failed.offeredKey.isChanged
      ? t('test.needsKey')
      : t('test.failedAt', { stage: t(`preflight.${failed.stage}`) })
  if (test.finishedAt) return t('test.failed')
  const last = test.stages.at(-1)
  const next = last ? order[order.indexOf(last.stage) + 1] : order[0]
  return next ? t('test.at', { stage: t(`preflight.${next}`) }) : t('test.running')
}

function TestItem({ test, expanded }: { test: Preflight; expanded: boolean }) {
  const isWaitingForKey = test.stages.some((stage) => stage.state === 'FAILED' && stage.offeredKey && !stage.offeredKey.isChanged)
  const isFailed = test.finishedAt !== null && !test.isOk && !isWaitingForKey
  const [isOpen, setOpen] = useState<boolean | null>(null)
  const open = isOpen ?? (expanded || isFailed)
  const failed = test.stages.find((stage) => stage.state === 'FAILED')
  return (
    <li
      className="border-b border-line last:border-0"
      data-testid="preflight"
      data-node={test.node.name}
      data-ok={test.isOk ?? undefined}
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2.5 px-3 py-2 text-left text-sm hover:bg-hover"
      >
        <ChevronRight className={clsx('size-3.5 shrink-0 text-faint transition-transform', open && 'rotate-90')} aria-hidden />
        {test.isOk ? (
          <CircleCheck className="size-4 shrink-0 text-ok" aria-hidden />
        ) : isWaitingForKey ? (
          <KeyRound className="size-4 shrink-0 text-warn" aria-hidden />
        ) : test.finishedAt ? (
          <CircleX className="size-4 shrink-0 text-bad" aria-hidden />
        ) : (
          <LoaderCircle className="size-4 shrink-0 animate-spin text-accent" aria-hidden />
        )}
        <span className="min-w-0 truncate font-mono font-medium">{test.node.name}</span>
        <span className="hidden min-w-0 truncate font-mono text-xs text-muted sm:inline">
          {formatAddress(test.node.host, test.node.port)}
        </span>
        <span className="hidden md:inline-flex">
          <NodeHealth health={test.node.health} />
        </span>
        <span
          className={clsx(
            'ml-auto shrink-0 text-xs',
            test.isOk ? 'text-ok' : isWaitingForKey ? 'text-warn' : test.finishedAt ? 'text-bad' : 'text-muted',
          )}
        >
          {summary(test)}
        </span>
      </button>
      {open && (
        <div className="pr-3 pb-2 pl-9">
          {/* On a phone the line has no space for it. */}
          <p className="pb-1 text-xs md:hidden">
            <NodeHealth health={test.node.health} showReason />
          </p>
          <Stages test={test} />
          {test.error && !failed && <p className="text-sm text-bad">{test.error}</p>}
        </div>
      )}
    </li>
  )
}

/** Connection tests with their stages and a notice about keys that need approval. `onApproved` gets the nodes to test again. */
export function PreflightList({
  tests,
  expanded,
  onApproved,
}: {
  tests: Preflight[]
  expanded?: boolean
  onApproved: (nodeIds: string[]) => void
}) {
  const [isApproving, setApproving] = useState(false)
  const keys = keysToApprove(tests)
  const waiting = tests
    .filter((test) => test.stages.some((stage) => stage.state === 'FAILED' && stage.offeredKey))
    .map((test) => test.node.id)
  return (
    <div className="flex flex-col gap-3">
      {keys.length > 0 && (
        <div
          role="status"
          className="flex flex-wrap items-center gap-3 rounded-lg border border-warn-dot/50 bg-warn-soft px-3 py-2 text-sm text-warn"
        >
          <KeyRound className="size-4 shrink-0" aria-hidden />
          <span className="min-w-0 flex-1 basis-48">{t('hostKey.waiting', { count: keys.length })}</span>
          <Button variant="primary" onClick={() => setApproving(true)}>
            {t('hostKey.review')}
          </Button>
        </div>
      )}
      {tests.length === 0 ? (
        <div className="flex items-center gap-2 p-3 text-sm text-muted">
          <LoaderCircle className="size-4 animate-spin" aria-hidden />
          {t('test.starting')}
        </div>
      ) : (
        <ul className="rounded-lg border border-line bg-panel" aria-label={t('test.list')}>
          {tests.map((test) => (
            <TestItem key={test.id} test={test} expanded={Boolean(expanded)} />
          ))}
        </ul>
      )}
      {isApproving && keys.length > 0 && (
        <HostKeysDialog
          keys={keys}
          onClose={() => setApproving(false)}
          onApproved={() => {
            setApproving(false)
            onApproved(waiting)
          }}
        />
      )}
    </div>
  )
}
