'use client'
import { useState } from 'react'
import { issueFor, useVerb } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextAreaField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { AcknowledgeAlerts, type AlertRow } from './documents.ts'

/** Say that one looks after an alert, and what is being done. */
export function AcknowledgeDialog({
  alert,
  onClose,
  onDone,
}: {
  alert: AlertRow
  onClose: () => void
  onDone: (alert: AlertRow) => void
}) {
  const verb = useVerb(AcknowledgeAlerts)
  const [note, setNote] = useState('')
  async function send() {
    const outcome = await verb.run({ ids: [alert.id], note })
    if (!outcome.ok) return
    for (const done of outcome.value.alerts) onDone(done)
    onClose()
  }
  const error = issueFor(verb.problem, 'note')
  return (
    <Dialog
      title={t('alerts.acknowledgeTitle')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button look="primary" busy={verb.busy} onClick={() => void send()}>
            {t('alerts.acknowledge')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <p className="text-sm">{alert.text}</p>
        {verb.problem && !error && <Notice tone="bad">{verb.problem.message}</Notice>}
        <TextAreaField
          label={t('alerts.note')}
          hint={t('alerts.noteHint')}
          optional
          value={note}
          onChange={(event) => setNote(event.target.value)}
          error={error}
        />
      </div>
    </Dialog>
  )
}
