'use client'
import { useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { SignInWithLdap } from './sign-in-method-documents.ts'

type Props = { name: string; onSignedIn: () => void; onChallenge: (challenge: string) => void; onBack: () => void }

/** Signs in with name and password of the LDAP directory. */
export function LdapForm({ name, onSignedIn, onChallenge, onBack }: Props) {
  const signIn = useMutation(SignInWithLdap)
  const [userName, setUserName] = useState('')
  const [password, setPassword] = useState('')
  async function submit() {
    const outcome = await signIn.run({ input: { userName, password } })
    if (outcome.ok) onSignedIn()
    else if (outcome.problem.challenge) onChallenge(outcome.problem.challenge)
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!signIn.busy) void submit()
      }}
    >
      {signIn.problem && <Notice tone="bad">{signIn.problem.message}</Notice>}
      <TextField
        label={t('signIn.userName')}
        name="username"
        autoComplete="username"
        required
        autoFocus
        value={userName}
        onChange={(event) => setUserName(event.target.value)}
      />
      <TextField
        label={t('signIn.passwordAt', { name })}
        type="password"
        name="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button variant="primary" type="submit" busy={signIn.busy}>
        {t('signIn.submit')}
      </Button>
      <Button variant="quiet" onClick={onBack}>
        {t('signIn.withPassword')}
      </Button>
    </form>
  )
}
