'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useRef, useState } from 'react'
import { SessionFrame } from '@/access/session-frame.tsx'
import { CodeStep } from '@/access/sign-in/code-step.tsx'
import { takeReturnPath } from '@/access/sign-in/oidc-sign-in.ts'
import { FinishOidcSignIn } from '@/access/sign-in/sign-in-method-documents.ts'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { safePath } from '@/graphql/session.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { languageReady } from '@/messages/language.ts'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'

/** The return from the OpenID Connect provider. */
export default function OidcReturnPage() {
  const router = useRouter()
  const restart = useFreshClient()
  const { run, problem } = useMutation(FinishOidcSignIn)
  const isSent = useRef(false)
  const next = useRef('/nodes')
  const [challenge, setChallenge] = useState<string | null>(null)
  useEffect(() => {
    void languageReady.then(async () => {
      // The answer works once.
      if (isSent.current) return
      isSent.current = true
      next.current = safePath(takeReturnPath())
      const response = location.search.slice(1)
      history.replaceState(history.state, '', location.pathname)
      const outcome = await run({ input: { response } })
      if (outcome.ok) {
        restart()
        router.replace(next.current)
      } else setChallenge(outcome.problem.challenge ?? null)
    })
  }, [run, restart, router])
  function onSignedIn() {
    restart()
    router.replace(next.current)
  }
  if (challenge) return <CodeStep challenge={challenge} onSignedIn={onSignedIn} onStartOver={() => router.replace('/sign-in')} />
  if (!problem) return <SessionFrame title={t('signIn.busy')}>{<div className="skeleton h-8 w-full" />}</SessionFrame>
  return (
    <SessionFrame title={t('signIn.failed')}>
      <div className="flex flex-col gap-4">
        <Notice tone="bad">{problem.message}</Notice>
        <Button onClick={() => router.replace('/sign-in')}>{t('signIn.startOver')}</Button>
      </div>
    </SessionFrame>
  )
}
