'use client'
import Link from 'next/link'
import { useRef, useState } from 'react'
import { issueFor } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { clusterHref } from '../cluster-card.tsx'
import { ConfigDiff } from '../scale/config-diff.tsx'
import { type Progress, useApply } from './use-apply.ts'

type Cluster = { id: string; name: string }
/** `reason` is the default: that of the change of a snippet. */
type Props = { clusters: readonly Cluster[]; reason?: string; onClose: () => void; onDone: () => void }

/** Shows what the snippets change in each cluster, and creates versions for the chosen ones. */
export function ApplyDialog({ clusters, reason: given = '', onClose, onDone }: Props) {
  const { progress, preview, apply, problem } = useApply(clusters.map(({ id }) => id))
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set())
  const [reason, setReason] = useState(given)
  const [isApplying, setApplying] = useState(false)
  const inStep = (...steps: Progress['step'][]) =>
    clusters.filter(({ id }) => steps.includes(progress.get(id)?.step ?? 'LOADING')).map(({ id }) => id)
  const loading = inStep('LOADING')
  const chosen = inStep('READY').filter((id) => !excluded.has(id))
  const done = inStep('DONE')
  const failed = inStep('FAILED')
  const total = useRef(0)
  const blockedReason =
    loading.length > 0
      ? t('slurmSnippet.previewing', {
          done: formatNumber(clusters.length - loading.length),
          count: formatNumber(clusters.length),
        })
      : chosen.length === 0
        ? t('slurmSnippet.needClusters')
        : reason.trim()
          ? null
          : t('slurmAction.needReason')
  async function run() {
    if (blockedReason !== null || isApplying) return
    total.current = chosen.length
    setApplying(true)
    await apply(chosen, reason.trim())
    setApplying(false)
    onDone()
  }
  const left = isApplying ? inStep('APPLYING').length + chosen.length : 0
  const toggle = (id: string) =>
    setExcluded((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]))
  const [only] = clusters
  return (
    <Dialog
      wide
      title={
        clusters.length === 1 && only
          ? t('slurmSnippet.applyTitle', { name: only.name })
          : t('slurmSnippet.applyManyTitle', { count: clusters.length })
      }
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t(done.length > 0 ? 'common.close' : 'common.cancel')}</Button>
          {failed.length > 0 && !isApplying && (
            <Button onClick={() => void preview(failed)}>{t('slurmSnippet.retry', { count: failed.length })}</Button>
          )}
          {(done.length === 0 || chosen.length > 0 || isApplying) && (
            <Button variant="primary" busy={isApplying} showReason blockedReason={blockedReason} onClick={() => void run()}>
              {isApplying
                ? t('slurmSnippet.applying', { done: formatNumber(total.current - left), count: formatNumber(total.current) })
                : t('slurmSnippet.applyStart', { count: chosen.length })}
            </Button>
          )}
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <p className="text-sm">{t('slurmSnippet.applyText')}</p>
        <TextField
          label={t('slurmAction.reason')}
          maxLength={200}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          error={issueFor(problem, 'reason')}
        />
        <ul className="flex flex-col rounded-lg border border-line" aria-label={t('slurm.clusters')}>
          {clusters.map((cluster) => (
            <Row
              key={cluster.id}
              cluster={cluster}
              progress={progress.get(cluster.id) ?? { step: 'LOADING' }}
              isChosen={!excluded.has(cluster.id)}
              isDisabled={isApplying}
              isAlone={clusters.length === 1}
              onToggle={() => toggle(cluster.id)}
            />
          ))}
        </ul>
      </form>
    </Dialog>
  )
}

const tones: Record<Progress['step'], Tone> = {
  LOADING: 'neutral',
  READY: 'accent',
  BLOCKED: 'warn',
  APPLYING: 'accent',
  DONE: 'ok',
  FAILED: 'bad',
}

type RowProps = {
  cluster: Cluster
  progress: Progress
  isChosen: boolean
  isDisabled: boolean
  isAlone: boolean
  onToggle: () => void
}

/** A cluster with its change or result. */
function Row({ cluster: { id, name }, progress, isChosen, isDisabled, isAlone, onToggle }: RowProps) {
  const { step } = progress
  const diff = step === 'READY' ? progress.diff : []
  const changed = (kind: 'ADDED' | 'REMOVED') => diff.flatMap(({ lines }) => lines).filter((line) => line.kind === kind).length
  return (
    <li className="flex flex-col gap-2 border-b border-line px-3 py-2 text-sm last:border-0" data-step={step}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {!isAlone && (
          <input
            type="checkbox"
            className="size-4 accent-accent"
            aria-label={name}
            checked={step === 'READY' ? isChosen : step === 'APPLYING' || step === 'DONE'}
            disabled={isDisabled || step !== 'READY'}
            onChange={onToggle}
          />
        )}
        <span className="min-w-0 font-medium wrap-anywhere">{name}</span>
        <span className="ml-auto" aria-live="polite">
          <State tone={tones[step]} busy={step === 'LOADING' || step === 'APPLYING'}>
            {step === 'DONE'
              ? t('slurmConfig.version', { number: String(progress.number) })
              : step === 'READY'
                ? t('slurmSnippet.lines', { added: formatNumber(changed('ADDED')), removed: formatNumber(changed('REMOVED')) })
                : t(`slurmSnippetStep.${step}`)}
          </State>
        </span>
      </div>
      {(step === 'BLOCKED' || step === 'FAILED') && (
        <p className={`text-xs break-words ${step === 'FAILED' ? 'text-bad' : 'text-warn'}`}>{progress.message}</p>
      )}
      {step === 'DONE' && (
        <Link href={`${clusterHref(id)}?tab=settings`} className="w-fit text-xs underline">
          {t('slurmSnippet.rolloutNext')}
        </Link>
      )}
      {step === 'READY' &&
        (isAlone ? (
          <ConfigDiff diff={diff} plan={null} />
        ) : (
          <details>
            <summary className="w-fit cursor-pointer text-xs text-muted">{t('slurmSnippet.show')}</summary>
            <div className="pt-2">
              <ConfigDiff diff={diff} plan={null} />
            </div>
          </details>
        ))}
    </li>
  )
}
