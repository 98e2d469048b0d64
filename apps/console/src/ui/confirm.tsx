'use client'
import { type ReactNode, useState } from 'react'
import { t } from '@/messages/index.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { TextField } from './field.tsx'
import { Notice } from './notice.tsx'

type Props = {
  title: string
  children: ReactNode
  action: string
  onConfirm: () => Promise<{ ok: true } | { ok: false; problem: { message: string } }>
  onClose: () => void
  /** The user must type this text first; for actions that can't be undone. */
  confirmText?: string
}

/** Asks before a destructive action. On failure the dialog stays open and shows the error. */
export function Confirm({ title, children, action, onConfirm, onClose, confirmText }: Props) {
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<string | null>(null)
  async function submit() {
    setBusy(true)
    const outcome = await onConfirm()
    setBusy(false)
    if (outcome.ok) onClose()
    else setError(outcome.problem.message)
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button
            variant="danger"
            showReason
            busy={busy}
            blockedReason={confirmText !== undefined && text !== confirmText ? t('confirm.type', { name: confirmText }) : null}
            onClick={submit}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-sm">
        {children}
        {confirmText !== undefined && (
          <TextField
            label={t('confirm.type', { name: confirmText })}
            value={text}
            onChange={(event) => setText(event.target.value)}
            mono
            autoComplete="off"
            autoFocus
          />
        )}
        {error && <Notice tone="bad">{error}</Notice>}
      </div>
    </Dialog>
  )
}
