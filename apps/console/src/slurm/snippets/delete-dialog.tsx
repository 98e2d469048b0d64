'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { DeleteSnippet, type SnippetRow } from './documents.ts'

type Props = { snippet: SnippetRow; onClose: () => void; onDone: (reason: string) => void }

/** Deletes a snippet, and names the clusters that have it. */
export function DeleteSnippetDialog({ snippet: { id, name, clusters }, onClose, onDone }: Props) {
  const remove = useMutation(DeleteSnippet)
  const [reason, setReason] = useState('')
  async function run() {
    const outcome = await remove.run({ input: { id, reason: reason.trim() } })
    if (!outcome.ok) return
    onDone(reason.trim())
    onClose()
  }
  return (
    <Dialog
      title={t('slurmSnippet.deleteTitle', { name })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="danger"
            busy={remove.busy}
            showReason
            blockedReason={reason.trim() ? null : t('slurmAction.needReason')}
            onClick={() => void run()}
          >
            {t('slurmSnippet.delete')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-sm">{t('slurmSnippet.deleteText')}</p>
        {clusters.length > 0 && (
          <p className="text-sm wrap-anywhere">
            {t('slurmSnippet.deleteClusters', { names: clusters.map(({ cluster }) => cluster.name).join(', ') })}
          </p>
        )}
        {remove.problem && remove.problem.issues.length === 0 && <Notice tone="bad">{remove.problem.message}</Notice>}
        <TextField
          label={t('slurmAction.reason')}
          maxLength={200}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          error={issueFor(remove.problem, 'reason')}
        />
      </div>
    </Dialog>
  )
}
