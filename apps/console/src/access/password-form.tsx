'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { SetPassword, type Viewer } from './session-documents.ts'

type Props = { viewer: Viewer; submitLabel: string; onSaved: () => void }

/** Sets the user's name and password. A user who has a password enters it too; the first owner also chooses the email address. */
export function PasswordForm({ viewer, submitLabel, onSaved }: Props) {
  const mutation = useMutation(SetPassword)
  const [name, setName] = useState(viewer.name)
  const [email, setEmail] = useState(viewer.user?.email ?? '')
  const [currentPassword, setCurrentPassword] = useState('')
  const [password, setPassword] = useState('')
  async function submit() {
    const current = viewer.hasPassword ? { currentPassword } : {}
    const outcome = await mutation.run({ input: { name, ...(viewer.choosesEmail ? { email } : {}), password, ...current } })
    if (!outcome.ok) return
    setCurrentPassword('')
    setPassword('')
    onSaved()
  }
  const isFieldProblem = Boolean(mutation.problem?.issues.length)
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!mutation.busy) void submit()
      }}
    >
      {mutation.problem && !isFieldProblem && <Notice tone="bad">{mutation.problem.message}</Notice>}
      <TextField
        label={t('welcome.name')}
        autoComplete="name"
        required
        value={name}
        error={issueFor(mutation.problem, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      {viewer.choosesEmail && (
        <TextField
          label={t('signIn.email')}
          type="email"
          autoComplete="username"
          required
          value={email}
          error={issueFor(mutation.problem, 'email')}
          hint={t('welcome.emailHint')}
          onChange={(event) => setEmail(event.target.value)}
        />
      )}
      {viewer.hasPassword && (
        <TextField
          label={t('account.currentPassword')}
          type="password"
          autoComplete="current-password"
          required
          value={currentPassword}
          error={issueFor(mutation.problem, 'currentPassword')}
          onChange={(event) => setCurrentPassword(event.target.value)}
        />
      )}
      <TextField
        label={t(viewer.hasPassword ? 'account.newPassword' : 'signIn.password')}
        type="password"
        autoComplete="new-password"
        required
        minLength={12}
        value={password}
        error={issueFor(mutation.problem, 'password')}
        hint={t('welcome.passwordHint')}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button variant="primary" type="submit" busy={mutation.busy}>
        {submitLabel}
      </Button>
    </form>
  )
}
