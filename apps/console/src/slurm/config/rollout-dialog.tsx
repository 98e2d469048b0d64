'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { issueFor, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { DialogActions } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { OperationDialog } from '../scale/operation-dialog.tsx'
import { PreviewConfig, RollbackConfig, RolloutConfig } from './documents.ts'
import { PlanView } from './plan-view.tsx'

type Target = { number: number; isRollback: boolean }
type Props = { cluster: { id: string; name: string }; target: Target; onClose: () => void; onDone: () => void }

/** Shows what the rollout of a version does, asks, and follows the operation. */
export function RolloutDialog({ cluster, target, onClose, onDone }: Props) {
  const key = target.isRollback ? 'slurmConfig.rollbackTitle' : 'slurmConfig.rolloutTitle'
  return (
    <OperationDialog title={t(key, { name: cluster.name, number: String(target.number) })} onClose={onClose} onDone={onDone}>
      {(onStarted) => <Form clusterId={cluster.id} target={target} onStarted={onStarted} onCancel={onClose} />}
    </OperationDialog>
  )
}

function Form({
  clusterId,
  target: { number, isRollback },
  onStarted,
  onCancel,
}: {
  clusterId: string
  target: Target
  onStarted: (id: string) => void
  onCancel: () => void
}) {
  const rollout = useMutation(RolloutConfig)
  const rollback = useMutation(RollbackConfig)
  const { busy, problem } = isRollback ? rollback : rollout
  const [reason, setReason] = useState('')
  const [{ data, error }, refetch] = useQuery({
    query: PreviewConfig,
    variables: { input: { clusterId, number } },
    requestPolicy: 'network-only',
  })
  const outcome = data && unwrap(data)
  const preview = outcome?.ok ? outcome.value : null
  const shown = problem ?? (error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null)
  const blockedReason = !preview
    ? t('slurmAction.needPreview')
    : (preview.blockedReason ??
      (preview.plan.controllers === 'NONE' ? t('slurmConfig.noChange') : reason.trim() ? null : t('slurmAction.needReason')))
  async function run() {
    if (!preview?.fingerprint || blockedReason) return
    const input = { clusterId, number, reason: reason.trim() }
    const started = isRollback
      ? await rollback.run({ input })
      : await rollout.run({ input: { ...input, fingerprint: preview.fingerprint } })
    if (started.ok) onStarted(started.value.slurmOperation.id)
    else refetch({ requestPolicy: 'network-only' })
  }
  return (
    <form
      className="flex flex-col gap-4 text-sm"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <p>{t(isRollback ? 'slurmConfig.rollbackText' : 'slurmConfig.rolloutText')}</p>
      {shown && shown.issues.length === 0 && <Notice tone="bad">{shown.message}</Notice>}
      {preview ? <PlanView preview={preview} /> : !shown && <Skeleton className="h-24 w-full" />}
      {preview?.fingerprint && !isRollback && (
        <p className="text-xs text-muted">
          {t('slurmConfig.fingerprint')} <code className="font-mono break-all">{preview.fingerprint}</code>
        </p>
      )}
      <TextField
        label={t('slurmAction.reason')}
        maxLength={200}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        error={issueFor(shown, 'reason')}
      />
      <DialogActions>
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
        <Button type="submit" variant="danger" busy={busy} showReason blockedReason={blockedReason}>
          {t(isRollback ? 'slurmConfig.rollbackStart' : 'slurmConfig.rolloutStart', {
            number: String(number),
            count: preview?.hosts.length ?? 0,
          })}
        </Button>
      </DialogActions>
    </form>
  )
}
