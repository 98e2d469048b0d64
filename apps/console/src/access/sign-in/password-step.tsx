'use client'
import { type ReactNode, useState } from 'react'
import { issueFor, type Problem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { useViewer } from '../viewer.tsx'

type PasswordStepProps = {
  title: string
  text: string
  submitLabel: string
  danger?: boolean
  blockedReason?: string | null
  children?: ReactNode
  mutation: { busy: boolean; problem: Problem | null }
  onSubmit: (currentPassword: string | null) => void
  onClose: () => void
}

/** A dialog that asks for the current password, if the user has one. `children`: more fields. */
export function PasswordStep({
  title,
  text,
  submitLabel,
  danger,
  mutation,
  blockedReason,
  onSubmit,
  onClose,
  children,
}: PasswordStepProps) {
  const { hasPassword } = useViewer()
  const [password, setPassword] = useState('')
  const submit = () => onSubmit(hasPassword ? password : null)
  const isFieldProblem = Boolean(mutation.problem?.issues.length)
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant={danger ? 'danger' : 'primary'}
            busy={mutation.busy}
            showReason
            blockedReason={blockedReason ?? (hasPassword && !password ? t('mfa.needPassword') : null)}
            onClick={submit}
          >
            {submitLabel}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!mutation.busy) submit()
        }}
      >
        {mutation.problem && !isFieldProblem && <Notice tone="bad">{mutation.problem.message}</Notice>}
        <p className="text-sm text-muted">{text}</p>
        {children}
        {hasPassword && (
          <TextField
            label={t('account.currentPassword')}
            type="password"
            autoComplete="current-password"
            value={password}
            error={issueFor(mutation.problem, 'currentPassword')}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </form>
    </Dialog>
  )
}
