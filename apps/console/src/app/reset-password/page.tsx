'use client'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { RequestPasswordReset, ResetPassword } from '@/access/member-documents.ts'
import { SessionFrame } from '@/access/session-frame.tsx'
import { useLinkToken } from '@/access/use-link-token.ts'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'

/** Asks for the address to which a link is sent. */
function RequestForm() {
  const router = useRouter()
  const mutation = useMutation(RequestPasswordReset)
  const [email, setEmail] = useState('')
  const [isSent, setSent] = useState(false)
  return (
    <SessionFrame title={t('reset.title')} lead={isSent ? undefined : t('reset.lead')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void mutation.run({ email }).then(({ ok }) => setSent(ok))
        }}
      >
        {mutation.problem && <Notice tone="bad">{mutation.problem.message}</Notice>}
        {isSent ? (
          <Notice tone="info">{t('reset.sent', { email })}</Notice>
        ) : (
          <>
            <TextField
              label={t('signIn.email')}
              type="email"
              autoComplete="username"
              required
              autoFocus
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
            <Button variant="primary" type="submit" busy={mutation.busy}>
              {t('reset.send')}
            </Button>
          </>
        )}
        <Button onClick={() => router.replace('/sign-in')}>{t('common.back')}</Button>
      </form>
    </SessionFrame>
  )
}

/** Sets the new password with the secret of the link. */
function NewPasswordForm({ token }: { token: string }) {
  const router = useRouter()
  const mutation = useMutation(ResetPassword)
  const [password, setPassword] = useState('')
  return (
    <SessionFrame title={t('reset.title')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void mutation.run({ input: { token, password } }).then(({ ok }) => ok && router.replace('/sign-in'))
        }}
      >
        {mutation.problem && mutation.problem.issues.length === 0 && <Notice tone="bad">{mutation.problem.message}</Notice>}
        <TextField
          label={t('account.newPassword')}
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          autoFocus
          value={password}
          error={issueFor(mutation.problem, 'password')}
          hint={t('welcome.passwordHint')}
          onChange={(event) => setPassword(event.target.value)}
        />
        <Button variant="primary" type="submit" busy={mutation.busy}>
          {t('reset.submit')}
        </Button>
      </form>
    </SessionFrame>
  )
}

/** Password reset by mail: asks for the address, or, opened by the link of the mail, for the new password. */
export default function ResetPasswordPage() {
  const token = useLinkToken()
  if (token === undefined) return null
  return token ? <NewPasswordForm token={token} /> : <RequestForm />
}
