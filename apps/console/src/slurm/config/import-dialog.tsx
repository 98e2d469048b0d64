'use client'
import { useState } from 'react'
import { issueFor, noticeOf, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog, DialogActions } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { OperationProgress } from '../scale/operation-progress.tsx'
import { useFindNodes } from '../scale/use-find-nodes.ts'
import { ImportConfig } from './documents.ts'

type Props = { cluster: { id: string; name: string }; onClose: () => void; onDone: () => void }

/** Stores the files of the hosts as the next version, and follows the operation. */
export function ImportDialog({ cluster, onClose, onDone }: Props) {
  const [id, setId] = useState<string | null>(null)
  return (
    <Dialog wide title={t('slurmConfig.importTitle', { name: cluster.name })} onClose={onClose}>
      {id ? (
        <OperationProgress id={id} onClose={onClose} onDone={onDone} />
      ) : (
        <Form clusterId={cluster.id} onStarted={setId} onCancel={onClose} />
      )}
    </Dialog>
  )
}

function Form({ clusterId, onStarted, onCancel }: { clusterId: string; onStarted: (id: string) => void; onCancel: () => void }) {
  const start = useMutation(ImportConfig)
  const findNodes = useFindNodes()
  const [limit, setLimit] = useState('')
  const [limitProblem, setLimitProblem] = useState<string | undefined>()
  const [reason, setReason] = useState('')
  async function run() {
    setLimitProblem(undefined)
    const found = limit.trim() ? await findNodes(limit.trim()) : { ids: null }
    if ('problem' in found) return setLimitProblem(found.problem)
    const outcome = await start.run({ input: { clusterId, nodeIds: found.ids, reason: reason.trim() } })
    if (outcome.ok) onStarted(outcome.value.slurmOperation.id)
  }
  const notice = noticeOf(start.problem, ['nodeIds', 'reason'])
  return (
    <form
      className="flex flex-col gap-4 text-sm"
      onSubmit={(event) => {
        event.preventDefault()
        if (reason.trim()) void run()
      }}
    >
      <p>{t('slurmConfig.importText')}</p>
      <TextField
        label={t('slurmConfig.nodes')}
        hint={t('slurmConfig.nodesHint')}
        mono
        optional
        value={limit}
        onChange={(event) => setLimit(event.target.value)}
        error={limitProblem ?? issueFor(start.problem, 'nodeIds')}
      />
      <TextField
        label={t('slurmAction.reason')}
        maxLength={200}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        error={issueFor(start.problem, 'reason')}
      />
      {notice && <Notice tone="bad">{notice}</Notice>}
      <DialogActions>
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
        <Button
          type="submit"
          variant="primary"
          busy={start.busy}
          showReason
          blockedReason={reason.trim() ? null : t('slurmAction.needReason')}
        >
          {t('slurmConfig.import')}
        </Button>
      </DialogActions>
    </form>
  )
}
