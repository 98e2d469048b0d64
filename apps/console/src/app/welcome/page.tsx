'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useState } from 'react'
import { SetPassword, type Viewer } from '@/access/session-documents.ts'
import { SessionFrame } from '@/access/session-frame.tsx'
import { useCurrentViewer } from '@/access/viewer.tsx'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'

function Form({ viewer }: { viewer: Viewer }) {
  const router = useRouter()
  const mutation = useMutation(SetPassword)
  const [name, setName] = useState(viewer.name)
  const [email, setEmail] = useState(viewer.user?.email ?? '')
  const [password, setPassword] = useState('')
  async function submit() {
    const outcome = await mutation.run({ input: { name, email: email || null, password } })
    if (outcome.ok) router.replace('/nodes')
  }
  const isFieldProblem = Boolean(mutation.problem?.issues.length)
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
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
      <TextField
        label={t('signIn.password')}
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
        {t('welcome.submit')}
      </Button>
    </form>
  )
}

export default function WelcomePage() {
  const { viewer, problem, retry } = useCurrentViewer()
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
