'use client'
import { useState } from 'react'
import { issueFor, type Outcome, type Problem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextAreaField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import type { AlertRow } from './documents.ts'

const maxShown = 5

type Props = {
  title: string
  action: string
  hint: string
  alerts: AlertRow[]
  send: (note: string) => Promise<Outcome<unknown>>
  mutation: { busy: boolean; problem: Problem | null }
  onClose: () => void
}

/** A dialog for an action on alerts with a note. */
export function NoteDialog({ title, action, hint, alerts, send, mutation, onClose }: Props) {
  const [note, setNote] = useState('')
  const error = issueFor(mutation.problem, 'note')
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={mutation.busy}
            onClick={() => void send(note).then((outcome) => outcome.ok && onClose())}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <ul className="flex flex-col gap-0.5 text-sm">
          {alerts.slice(0, maxShown).map((alert) => (
            <li key={alert.id}>{alert.message}</li>
          ))}
          {alerts.length > maxShown && <li className="text-muted">{t('alerts.andMore', { count: alerts.length - maxShown })}</li>}
        </ul>
        {mutation.problem && !error && <Notice tone="bad">{mutation.problem.message}</Notice>}
        <TextAreaField
          label={t('alerts.note')}
          hint={hint}
          optional
          value={note}
          onChange={(event) => setNote(event.target.value)}
          error={error}
        />
      </div>
    </Dialog>
  )
}
