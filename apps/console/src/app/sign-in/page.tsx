'use client'
import { KeyRound } from 'lucide-react'
import Link from 'next/link'
import { useRouter, useSearchParams } from 'next/navigation'
import { Suspense, useEffect, useRef, useState } from 'react'
import { SignIn, SignInWithLink } from '@/access/session-documents.ts'
import { SessionFrame } from '@/access/session-frame.tsx'
import { CodeStep } from '@/access/sign-in/code-step.tsx'
import { LdapForm } from '@/access/sign-in/ldap-form.tsx'
import { OidcButton } from '@/access/sign-in/oidc-button.tsx'
import { usePasskeySignIn } from '@/access/sign-in/use-passkey-sign-in.ts'
import { useProviderName } from '@/access/sign-in/use-provider-name.ts'
import { useLinkToken } from '@/access/use-link-token.ts'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { safePath } from '@/graphql/session.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { languageReady } from '@/messages/language.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'

function LinkSignIn({ token }: { token: string }) {
  const router = useRouter()
  const restart = useFreshClient()
  const signIn = useMutation(SignInWithLink)
  const isSent = useRef(false)
  useEffect(() => {
    let isMounted = true
    void languageReady.then(async () => {
      // The link works once: sending it twice would turn a successful sign-in into an error.
      if (!isMounted || isSent.current) return
      isSent.current = true
      const outcome = await signIn.run({ input: { token } })
      if (!outcome.ok) return
      restart()
      router.replace(outcome.value.viewer.hasPassword ? '/nodes' : '/welcome')
    })
    return () => {
      isMounted = false
    }
  }, [token, signIn.run, restart, router])
  if (!signIn.problem) return <SessionFrame title={t('signIn.linkBusy')}>{<div className="skeleton h-8 w-full" />}</SessionFrame>
  return (
    <SessionFrame title={t('signIn.linkFailed')}>
      <div className="flex flex-col gap-4">
        <Notice tone="bad">{signIn.problem.message}</Notice>
        <p className="text-sm text-muted">{t('signIn.linkFailedHint')}</p>
        <Button onClick={() => router.replace('/sign-in')}>{t('signIn.withPassword')}</Button>
      </div>
    </SessionFrame>
  )
}

function PasswordSignIn() {
  const router = useRouter()
  const next = safePath(useSearchParams().get('next'))
  const restart = useFreshClient()
  const signIn = useMutation(SignIn)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [challenge, setChallenge] = useState<string | null>(null)
  const [isLdap, setLdap] = useState(false)
  const ldapName = useProviderName('LDAP')
  function onSignedIn() {
    restart()
    router.replace(next)
  }
  const passkey = usePasskeySignIn(onSignedIn)
  async function submit() {
    const outcome = await signIn.run({ input: { email, password } })
    if (outcome.ok) onSignedIn()
    else setChallenge(outcome.problem.challenge ?? null)
  }
  function startOver() {
    setChallenge(null)
    setPassword('')
    signIn.clear()
  }
  if (challenge) return <CodeStep challenge={challenge} onSignedIn={onSignedIn} onStartOver={startOver} />
  if (isLdap && ldapName)
    return (
      <SessionFrame title={t('signIn.with', { name: ldapName })}>
        <LdapForm name={ldapName} onSignedIn={onSignedIn} onChallenge={setChallenge} onBack={() => setLdap(false)} />
      </SessionFrame>
    )
  return (
    <SessionFrame title={t('signIn.title')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        {signIn.problem && <Notice tone="bad">{signIn.problem.message}</Notice>}
        <TextField
          label={t('signIn.email')}
          type="email"
          name="email"
          autoComplete="username webauthn"
          required
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label={t('signIn.password')}
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
        <Link href="/reset-password" className="text-xs text-accent hover:underline">
          {t('signIn.forgot')}
        </Link>
        <p className="text-xs text-muted">{t('signIn.firstTime')}</p>
      </form>
      {passkey.isOffered && (
        <div className="mt-5 flex flex-col gap-4 border-t border-line pt-5">
          {passkey.problem && <Notice tone="bad">{passkey.problem}</Notice>}
          <Button icon={<KeyRound aria-hidden />} onClick={passkey.signIn}>
            {t('signIn.withPasskey')}
          </Button>
        </div>
      )}
      {ldapName && (
        <div className="mt-5 flex flex-col border-t border-line pt-5">
          <Button onClick={() => setLdap(true)}>{t('signIn.with', { name: ldapName })}</Button>
        </div>
      )}
      <OidcButton next={next} />
    </SessionFrame>
  )
}

function Choose() {
  const token = useLinkToken()
  if (token === undefined) return null
  return token ? <LinkSignIn token={token} /> : <PasswordSignIn />
}

export default function SignInPage() {
  return (
    <Suspense>
      <Choose />
    </Suspense>
  )
}
