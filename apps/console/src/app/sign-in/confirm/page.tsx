'use client'
import { useEffect, useRef } from 'react'
import { SessionFrame } from '@/access/session-frame.tsx'
import { reportConfirmed } from '@/access/sign-in/confirm-at-provider.ts'
import { redirectToProvider } from '@/access/sign-in/oidc-sign-in.ts'
import { StartOidcSignIn } from '@/access/sign-in/sign-in-method-documents.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { languageReady } from '@/messages/language.ts'
import { Notice } from '@/ui/notice.tsx'

const DONE = '/sign-in/confirm?done'

/** A window in which the user signs in at the OpenID Connect provider again, to confirm their identity. */
export default function ConfirmPage() {
  const { run, problem } = useMutation(StartOidcSignIn)
  const isStarted = useRef(false)
  useEffect(() => {
    void languageReady.then(async () => {
      if (isStarted.current) return
      isStarted.current = true
      if (`${location.pathname}${location.search}` === DONE) return reportConfirmed()
      const outcome = await run({ input: { confirm: true } })
      if (outcome.ok) redirectToProvider(outcome.value.url, DONE)
    })
  }, [run])
  return (
    <SessionFrame title={t('stepUp.title')}>
      {problem ? <Notice tone="bad">{problem.message}</Notice> : <div className="skeleton h-8 w-full" />}
    </SessionFrame>
  )
}
