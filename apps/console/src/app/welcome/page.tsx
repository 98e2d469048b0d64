'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useState } from 'react'
import { issueFor, useVerb } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { SetPassword, type Viewer } from '@/session/documents.ts'
import { SessionFrame } from '@/session/frame.tsx'
import { useWhoAmI } from '@/session/viewer.tsx'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'

function Form({ viewer }: { viewer: Viewer }) {
  const router = useRouter()
  const verb = useVerb(SetPassword)
  const [name, setName] = useState(viewer.name)
  const [email, setEmail] = useState(viewer.email ?? '')
  const [password, setPassword] = useState('')
  async function submit() {
    const outcome = await verb.run({ input: { name, email: email || null, password } })
    if (outcome.ok) router.replace('/nodes')
  }
  const isFieldProblem = Boolean(verb.problem?.issues.length)
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {verb.problem && !isFieldProblem && <Notice tone="bad">{verb.problem.message}</Notice>}
      <TextField
        label={t('welcome.name')}
        autoComplete="name"
        required
        value={name}
        error={issueFor(verb.problem, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={t('signIn.email')}
        type="email"
        autoComplete="username"
        required
        value={email}
        error={issueFor(verb.problem, 'email')}
        hint={t('welcome.emailHint')}
        onChange={(event) => setEmail(event.target.value)}
      />
      <TextField
        label={t('signIn.password')}
        type="password"
        autoComplete="new-password"
        required
        minLength={12}
        value={password}
        error={issueFor(verb.problem, 'password')}
        hint={t('welcome.passwordHint')}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button look="primary" type="submit" busy={verb.busy}>
        {t('welcome.submit')}
      </Button>
    </form>
  )
}

export default function WelcomePage() {
  const { viewer, problem, retry } = useWhoAmI()
  const router = useRouter()
  useEffect(() => {
    if (viewer === null) router.replace('/sign-in')
  }, [viewer, router])
  return (
    <SessionFrame title={t('welcome.title')} lead={t('welcome.lead')}>
      {problem ? (
        <Failure title={t('error.load')} message={problem.message} onRetry={retry} />
      ) : viewer ? (
        <Form viewer={viewer} />
      ) : (
        <div className="skeleton h-52 w-full" />
      )}
    </SessionFrame>
  )
}
