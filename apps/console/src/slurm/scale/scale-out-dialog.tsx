'use client'
import { useState } from 'react'
import type { ResultOf } from '@/graphql/graphql.ts'
import { issuesWithin, noticeOf, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { DialogActions } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { ConfigDiff } from './config-diff.tsx'
import { PreviewScaleOut, type Readiness, ScaleOut, type ScaleOutInput, type ScaleOutPreview } from './documents.ts'
import { OperationDialog } from './operation-dialog.tsx'
import { ReadinessFindings, ReadinessState } from './readiness-findings.tsx'
import { usePreview } from './use-preview.ts'
import { useReadiness } from './use-readiness.ts'

type Props = { cluster: { id: string; name: string }; onClose: () => void; onDone: () => void }

/** Adds nodes to a managed cluster: chooses them, shows the plan, and follows the operation. */
export function ScaleOutDialog({ cluster, onClose, onDone }: Props) {
  return (
    <OperationDialog title={t('slurmScale.outTitle', { name: cluster.name })} onClose={onClose} onDone={onDone}>
      {(onStarted) => <Form clusterId={cluster.id} onStarted={onStarted} onCancel={onClose} />}
    </OperationDialog>
  )
}

/** Null: none. */
export const shardsOf = (text: string) => (text.trim() ? Number(text) : null)
const listOf = (text: string) => text.split(/[\s,]+/).filter(Boolean)

function Form({ clusterId, onStarted, onCancel }: { clusterId: string; onStarted: (id: string) => void; onCancel: () => void }) {
  const start = useMutation(ScaleOut)
  const readiness = useReadiness()
  const [form, setForm] = useState({ limit: '', partitions: '', shardsPerGpu: '', reason: '' })
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set())
  const field = (key: keyof typeof form) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error: issuesWithin(shown, key),
  })
  const base = { clusterId, partitions: listOf(form.partitions), shardsPerGpu: shardsOf(form.shardsPerGpu) }
  const limit = form.limit.trim()
  // All nodes of the expression, then what a scale-out of the chosen ones changes.
  const listed = previewOf(usePreview(PreviewScaleOut, { ...base, limit } as ScaleOutInput, limit !== ''))
  const candidates = listed.preview?.candidates ?? []
  const isFailed = (id: string) => readiness.nodes.get(id)?.isReady === false
  const nodeIds = candidates
    .filter(({ node, blockedReason }) => !blockedReason && !excluded.has(node.id) && !isFailed(node.id))
    .map(({ node }) => node.id)
  const input: ScaleOutInput = { ...base, nodeIds }
  const chosen = previewOf(usePreview(PreviewScaleOut, input, nodeIds.length > 0))
  const shown = start.problem ?? listed.problem ?? chosen.problem ?? readiness.problem
  const notice = noticeOf(shown, Object.keys(form))
  const isChecked = readiness.isFinished && nodeIds.every((id) => readiness.nodes.get(id)?.isReady)
  const blockedReason =
    nodeIds.length === 0
      ? t('slurmScale.needNodes')
      : (chosen.preview?.blockedReason ??
        (isChecked ? (form.reason.trim() ? null : t('slurmAction.needReason')) : t('slurmScale.needCheck')))
  async function run() {
    if (!chosen.preview || blockedReason) return
    const { fingerprint } = chosen.preview
    const started = await start.run({ input: { ...input, fingerprint, reason: form.reason.trim() } })
    if (started.ok) onStarted(started.value.slurmOperation.id)
  }
  const toggle = (id: string) =>
    setExcluded((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]))
  return (
    <form
      className="flex flex-col gap-4 text-sm"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <TextField label={t('slurmScale.nodes')} hint={t('slurmScale.nodesHint')} mono {...field('limit')} />
      <TextField label={t('slurm.partitions')} hint={t('slurmScale.partitionsHint')} mono optional {...field('partitions')} />
      <TextField
        label={t('slurmScale.shards')}
        hint={t('slurmScale.shardsHint')}
        type="number"
        min={0}
        max={1000}
        optional
        {...field('shardsPerGpu')}
      />
      <TextField label={t('slurmAction.reason')} maxLength={200} {...field('reason')} />
      {notice && <Notice tone="bad">{notice}</Notice>}
      {readiness.error && <Notice tone="bad">{readiness.error}</Notice>}
      {listed.isLoading ? (
        <Skeleton className="h-24 w-full" />
      ) : (
        candidates.length > 0 && (
          <div className="flex flex-col gap-3">
            <Candidates
              candidates={candidates}
              chosen={new Set(nodeIds)}
              isLeftOut={isFailed}
              readiness={readiness.nodes}
              onToggle={toggle}
            />
            <p className="text-xs text-muted" aria-live="polite">
              {readiness.isRunning
                ? t('slurmScale.checkProgress', { done: formatNumber(readiness.checkedCount), count: readiness.nodes.size })
                : t('slurmScale.checks')}
            </p>
            {chosen.preview && <ConfigDiff diff={chosen.preview.diff} plan={chosen.preview.plan} />}
          </div>
        )
      )}
      <DialogActions>
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
        <Button
          busy={readiness.isRunning}
          blockedReason={nodeIds.length === 0 ? t('slurmScale.needNodes') : null}
          onClick={() => void readiness.start({ clusterId, nodeIds })}
        >
          {t('slurmScale.check')}
        </Button>
        <Button type="submit" variant="primary" busy={start.busy} showReason blockedReason={blockedReason}>
          {t('slurmScale.outStart', { count: nodeIds.length })}
        </Button>
      </DialogActions>
    </form>
  )
}

type Preview = ReturnType<typeof usePreview<ResultOf<typeof PreviewScaleOut>, ScaleOutInput>>

function previewOf({ data, error, isLoading }: Preview) {
  const outcome = data && unwrap(data)
  const problem = error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null
  return { preview: outcome?.ok ? outcome.value : null, problem, isLoading }
}

type CandidatesProps = {
  candidates: ScaleOutPreview['candidates']
  chosen: ReadonlySet<string>
  isLeftOut: (id: string) => boolean
  readiness: ReadonlyMap<string, Readiness['nodes'][number]>
  onToggle: (id: string) => void
}

/** The nodes of the expression, with a choice and what the check of each one found. */
function Candidates({ candidates, chosen, isLeftOut, readiness, onToggle }: CandidatesProps) {
  return (
    <ul className="flex max-h-60 flex-col overflow-auto rounded-lg border border-line" aria-label={t('slurmScale.nodes')}>
      {candidates.map(({ node, slurmName, cpus, gres, blockedReason }) => {
        const checked = readiness.get(node.id)
        return (
          <li
            key={node.id}
            className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line px-3 py-1.5 last:border-0"
          >
            <input
              type="checkbox"
              aria-label={node.name}
              checked={chosen.has(node.id)}
              disabled={blockedReason !== null || isLeftOut(node.id)}
              onChange={() => onToggle(node.id)}
            />
            <span className="font-mono text-xs font-medium">{node.name}</span>
            {slurmName && slurmName !== node.name && <span className="font-mono text-xs text-muted">{slurmName}</span>}
            <span className="text-xs text-muted">
              {[cpus === null ? null : t('slurmScale.cpus', { count: cpus }), ...gres].filter(Boolean).join(' · ')}
            </span>
            <span className="ml-auto">
              {checked ? (
                <ReadinessState node={checked} />
              ) : (
                <State tone={blockedReason ? 'bad' : 'neutral'}>
                  {blockedReason ? t('slurmScale.cannot') : t('slurmScale.unchecked')}
                </State>
              )}
            </span>
            {blockedReason && <p className="w-full text-xs break-words text-bad">{blockedReason}</p>}
            {checked && <ReadinessFindings node={checked} />}
            {isLeftOut(node.id) && <p className="w-full text-xs text-muted">{t('slurmScale.isLeftOut')}</p>}
          </li>
        )
      })}
    </ul>
  )
}
