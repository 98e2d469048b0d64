'use client'
import { useState } from 'react'
import { issueFor, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { ConfigDiff } from './config-diff.tsx'
import { PreviewScaleOut, ScaleOut, type ScaleOutPreview } from './documents.ts'
import { OperationProgress } from './operation-progress.tsx'
import { usePreview } from './use-preview.ts'

type Props = { cluster: { id: string; name: string }; onClose: () => void; onDone: () => void }

/** Adds nodes to a managed cluster: chooses them, shows the plan, and follows the operation. */
export function ScaleOutDialog({ cluster, onClose, onDone }: Props) {
  const [id, setId] = useState<string | null>(null)
  return (
    <Dialog wide title={t('slurmScale.outTitle', { name: cluster.name })} onClose={onClose}>
      {id ? (
        <OperationProgress id={id} onClose={onClose} onDone={onDone} />
      ) : (
        <Form clusterId={cluster.id} onStarted={setId} onCancel={onClose} />
      )}
    </Dialog>
  )
}

/** Null: none. */
export const shardsOf = (text: string) => (text.trim() ? Number(text) : null)
const listOf = (text: string) => text.split(/[\s,]+/).filter(Boolean)

function Form({ clusterId, onStarted, onCancel }: { clusterId: string; onStarted: (id: string) => void; onCancel: () => void }) {
  const start = useMutation(ScaleOut)
  const [form, setForm] = useState({ limit: '', partitions: '', shardsPerGpu: '', reason: '' })
  const field = (key: keyof typeof form) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error: issueFor(start.problem ?? problem, key),
  })
  const input = {
    clusterId,
    limit: form.limit.trim(),
    partitions: listOf(form.partitions),
    shardsPerGpu: shardsOf(form.shardsPerGpu),
  }
  const { data, error, isLoading } = usePreview(PreviewScaleOut, input, input.limit !== '')
  const outcome = data && unwrap(data)
  const preview = outcome?.ok ? outcome.value : null
  const problem = error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null
  const shown = start.problem ?? problem
  const blocked = preview?.candidates.filter(({ blockedReason }) => blockedReason) ?? []
  const blockedReason =
    preview?.blockedReason ??
    (blocked.length > 0 ? t('slurmScale.leaveOut', { names: blocked.map(({ node }) => node.name).join(', ') }) : null) ??
    (preview ? (form.reason.trim() ? null : t('slurmAction.needReason')) : t('slurmScale.needNodes'))
  async function run() {
    if (!preview || blockedReason) return
    const started = await start.run({ input: { ...input, fingerprint: preview.fingerprint, reason: form.reason.trim() } })
    if (started.ok) onStarted(started.value.slurmOperation.id)
  }
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
      {shown && shown.issues.length === 0 && <Notice tone="bad">{shown.message}</Notice>}
      {isLoading ? <Skeleton className="h-24 w-full" /> : preview && <Candidates preview={preview} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
        <Button type="submit" variant="primary" busy={start.busy} showReason blockedReason={blockedReason}>
          {t('slurmScale.outStart', { count: preview?.candidates.length ?? 0 })}
        </Button>
      </div>
    </form>
  )
}

function Candidates({ preview }: { preview: ScaleOutPreview }) {
  return (
    <div className="flex flex-col gap-3">
      <ul className="flex max-h-60 flex-col overflow-auto rounded-lg border border-line" aria-label={t('slurmScale.nodes')}>
        {preview.candidates.map(({ node, slurmName, cpus, gres, blockedReason }) => (
          <li
            key={node.id}
            className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line px-3 py-1.5 last:border-0"
          >
            <span className="font-mono text-xs font-medium">{node.name}</span>
            {slurmName && slurmName !== node.name && <span className="font-mono text-xs text-muted">{slurmName}</span>}
            <span className="text-xs text-muted">
              {[cpus === null ? null : t('slurmScale.cpus', { count: cpus }), ...gres].filter(Boolean).join(' · ')}
            </span>
            <span className="ml-auto">
              <State tone={blockedReason ? 'bad' : 'ok'}>{blockedReason ? t('slurmScale.cannot') : t('slurmScale.can')}</State>
            </span>
            {blockedReason && <p className="w-full text-xs break-words text-bad">{blockedReason}</p>}
          </li>
        ))}
      </ul>
      <p className="text-xs text-muted">{t('slurmScale.checks')}</p>
      <ConfigDiff diff={preview.diff} plan={preview.plan} />
    </div>
  )
}
