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
  /** Must be typed before the action can be taken; for what cannot be undone. */
  typed?: string
}

/** Ask before something that hurts. The dialog stays open with the reason when it did not work. */
export function Confirm({ title, children, action, onConfirm, onClose, typed }: Props) {
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
            look="danger"
            saysReason
            busy={busy}
            blockedReason={typed !== undefined && text !== typed ? t('confirm.typeFirst', { name: typed }) : null}
            onClick={submit}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3 text-sm">
        {children}
        {typed !== undefined && (
          <TextField
            label={t('confirm.type', { name: typed })}
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
