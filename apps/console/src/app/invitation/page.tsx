'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useState } from 'react'
import { useClient } from 'urql'
import { AcceptInvitation, type OpenInvitation, OpenInvitationQuery } from '@/access/member-documents.ts'
import { roleLabel } from '@/access/roles.ts'
import { SessionFrame } from '@/access/session-frame.tsx'
import { useLinkToken } from '@/access/use-link-token.ts'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { issueFor, toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { languageReady } from '@/messages/language.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'

type Loaded = { invitation: OpenInvitation | null; ownEmail: string | null }

/** Reads the invitation of the link; undefined while loading. */
function useInvitation(token: string | null | undefined): { loaded: Loaded | undefined; problem: string | null } {
  const client = useClient()
  const [loaded, setLoaded] = useState<Loaded>()
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    if (token === undefined) return
    let isMounted = true
    void languageReady.then(async () => {
      if (!token) return setLoaded({ invitation: null, ownEmail: null })
      const { data, error } = await client.query(OpenInvitationQuery, { token }, { requestPolicy: 'network-only' }).toPromise()
      if (!isMounted) return
      if (data) setLoaded({ invitation: data.openInvitation, ownEmail: data.viewer?.user?.email ?? null })
      else if (error) setProblem(toProblem(error).message)
    })
    return () => {
      isMounted = false
    }
  }, [client, token])
  return { loaded, problem }
}

function Accept({ token, invitation, ownEmail }: { token: string; invitation: OpenInvitation; ownEmail: string | null }) {
  const router = useRouter()
  const restart = useFreshClient()
  const mutation = useMutation(AcceptInvitation)
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const isSignedIn = ownEmail === invitation.email
  const isNew = !invitation.hasAccount
  async function submit() {
    const outcome = await mutation.run({ input: { token, ...(isSignedIn ? {} : { password }), ...(isNew ? { name } : {}) } })
    if (!outcome.ok) return
    restart()
    router.replace('/nodes')
  }
  if (ownEmail && !isSignedIn)
    return <Notice tone="warn">{t('invitation.otherUser', { own: ownEmail, invited: invitation.email })}</Notice>
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!mutation.busy) void submit()
      }}
    >
      {mutation.problem && mutation.problem.issues.length === 0 && <Notice tone="bad">{mutation.problem.message}</Notice>}
      <TextField label={t('signIn.email')} type="email" autoComplete="username" readOnly value={invitation.email} />
      {isNew && (
        <TextField
          label={t('welcome.name')}
          autoComplete="name"
          required
          autoFocus
          value={name}
          error={issueFor(mutation.problem, 'name')}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      {!isSignedIn && (
        <TextField
          label={t('signIn.password')}
          type="password"
          autoComplete={isNew ? 'new-password' : 'current-password'}
          required
          minLength={isNew ? 12 : undefined}
          value={password}
          error={issueFor(mutation.problem, 'password')}
          hint={isNew ? t('welcome.passwordHint') : t('invitation.accountHint')}
          onChange={(event) => setPassword(event.target.value)}
        />
      )}
      <Button variant="primary" type="submit" busy={mutation.busy}>
        {t('invitation.accept')}
      </Button>
    </form>
  )
}

/** Opened by the link of an invitation. */
export default function InvitationPage() {
  const token = useLinkToken()
  const router = useRouter()
  const { loaded, problem } = useInvitation(token)
  if (problem)
    return (
      <SessionFrame title={t('error.load')}>
        <Notice tone="bad">{problem}</Notice>
      </SessionFrame>
    )
  if (!loaded) return <SessionFrame title={t('invitation.busy')}>{<div className="skeleton h-40 w-full" />}</SessionFrame>
  const { invitation, ownEmail } = loaded
  if (!invitation || !token)
    return (
      <SessionFrame title={t('invitation.invalid')}>
        <div className="flex flex-col gap-4">
          <p className="text-sm text-muted">{t('invitation.invalidHint')}</p>
          <Button onClick={() => router.replace('/sign-in')}>{t('signIn.title')}</Button>
        </div>
      </SessionFrame>
    )
  return (
    <SessionFrame
      title={t('invitation.title', { tenant: invitation.tenantName })}
      lead={t('invitation.lead', { role: roleLabel(invitation.role) })}
    >
      <Accept token={token} invitation={invitation} ownEmail={ownEmail} />
    </SessionFrame>
  )
}
