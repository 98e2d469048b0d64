'use client'
import { useState } from 'react'
import { issueFor, noticeOf, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { DialogActions } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { ConfigDiff } from './config-diff.tsx'
import { PreviewScaleIn, ScaleIn } from './documents.ts'
import { OperationDialog } from './operation-dialog.tsx'
import { usePreview } from './use-preview.ts'

type Props = { cluster: { id: string; name: string }; onClose: () => void; onDone: () => void }

/** Removes nodes from a managed cluster: chooses them, shows their jobs, and follows the operation. */
export function ScaleInDialog({ cluster, onClose, onDone }: Props) {
  return (
    <OperationDialog title={t('slurmScale.inTitle', { name: cluster.name })} onClose={onClose} onDone={onDone}>
      {(onStarted) => <Form clusterId={cluster.id} onStarted={onStarted} onCancel={onClose} />}
    </OperationDialog>
  )
}

function Form({ clusterId, onStarted, onCancel }: { clusterId: string; onStarted: (id: string) => void; onCancel: () => void }) {
  const start = useMutation(ScaleIn)
  const [form, setForm] = useState({ hostlist: '', minutes: '60', reason: '' })
  const input = { clusterId, hostlist: form.hostlist.trim() }
  const { data, error, isLoading } = usePreview(PreviewScaleIn, input, input.hostlist !== '')
  const outcome = data && unwrap(data)
  const preview = outcome?.ok ? outcome.value : null
  const problem = error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null
  const shown = start.problem ?? problem
  const field = (key: keyof typeof form, path: string = key) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error: issueFor(shown, path),
  })
  const notice = noticeOf(shown, ['hostlist', 'deadlineSeconds', 'reason'])
  const blocked = preview?.targets.filter(({ blockedReason }) => blockedReason) ?? []
  const blockedReason =
    blocked.length > 0
      ? t('slurmScale.leaveOutIn', { names: blocked.map(({ name }) => name).join(', ') })
      : preview
        ? form.reason.trim()
          ? null
          : t('slurmAction.needReason')
        : t('slurmScale.needNodes')
  async function run() {
    if (!preview || blockedReason) return
    const started = await start.run({
      input: {
        ...input,
        fingerprint: preview.fingerprint,
        reason: form.reason.trim(),
        deadlineSeconds: Number(form.minutes) * 60,
      },
    })
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
      <p>{t('slurmScale.inText')}</p>
      <TextField label={t('slurmScale.slurmNodes')} hint={t('slurmScale.slurmNodesHint')} mono {...field('hostlist')} />
      <TextField
        label={t('slurmScale.deadline')}
        hint={t('slurmScale.deadlineHint')}
        type="number"
        min={0}
        max={10_080}
        {...field('minutes', 'deadlineSeconds')}
      />
      <TextField label={t('slurmAction.reason')} maxLength={200} {...field('reason')} />
      {notice && <Notice tone="bad">{notice}</Notice>}
      {isLoading ? (
        <Skeleton className="h-24 w-full" />
      ) : (
        preview && (
          <div className="flex flex-col gap-3">
            <ul
              className="flex max-h-60 flex-col overflow-auto rounded-lg border border-line"
              aria-label={t('slurmScale.slurmNodes')}
            >
              {preview.targets.map(({ name, state, jobs, blockedReason }) => (
                <li key={name} className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-3 py-1.5 last:border-0">
                  <span className="font-mono text-xs font-medium">{name}</span>
                  <span className="font-mono text-xs text-muted">{state ?? t('slurmAction.unknown')}</span>
                  {jobs.length > 0 && (
                    <span className="text-xs text-warn">{t('slurmAction.jobs', { jobs: jobs.slice(0, 8).join(', ') })}</span>
                  )}
                  {blockedReason && <p className="w-full text-xs break-words text-bad">{blockedReason}</p>}
                </li>
              ))}
            </ul>
            <ConfigDiff diff={preview.diff} plan={preview.plan} />
          </div>
        )
      )}
      <DialogActions>
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
        <Button type="submit" variant="danger" busy={start.busy} showReason blockedReason={blockedReason}>
          {t('slurmScale.inStart', { names: namesOf(preview?.targets ?? []) })}
        </Button>
      </DialogActions>
    </form>
  )
}

const SHOWN = 2
/** The first names, and how many follow: a button is one line. The list above it has all. */
function namesOf(targets: readonly { name: string }[]): string {
  const names = targets.slice(0, SHOWN).map(({ name }) => name)
  const more = targets.length - names.length
  return `${names.join(', ')}${more > 0 ? ` ${t('slurmAction.more', { count: more })}` : ''}`
}
