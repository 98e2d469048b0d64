'use client'
import { browserSupportsWebAuthnAutofill, WebAuthnAbortService } from '@simplewebauthn/browser'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { useMutation } from '@/graphql/use-mutation.ts'
import { SignInWithPasskey, StartPasskeySignIn } from './passkey-documents.ts'
import { askForPasskey, hasUsedPasskey, rememberPasskey } from './passkeys.ts'
import { SignInMethodsQuery } from './sign-in-method-documents.ts'

/**
 * Sign-in with a passkey: by `signIn`, and by the suggestions of a field with `autocomplete="username webauthn"` on browsers that
 * have used one.
 */
export function usePasskeySignIn(onSignedIn: () => void) {
  const [{ data }] = useQuery({ query: SignInMethodsQuery })
  const isOffered = data?.signInMethods.some(({ kind }) => kind === 'PASSKEY') ?? false
  const start = useMutation(StartPasskeySignIn)
  const finish = useMutation(SignInWithPasskey)
  const [problem, setProblem] = useState<string | null>(null)
  const done = useRef(onSignedIn)
  done.current = onSignedIn
  const run = useCallback(
    async (isAutofill: boolean) => {
      setProblem(null)
      const started = await start.run({})
      if (!started.ok) return isAutofill ? undefined : setProblem(started.problem.message)
      const { challenge, options } = started.value
      const answer = await askForPasskey(options, isAutofill)
      if (!answer.response) return isAutofill ? undefined : setProblem(answer.problem)
      const outcome = await finish.run({ input: { challenge, response: answer.response } })
      if (!outcome.ok) return setProblem(outcome.problem.message)
      rememberPasskey()
      done.current()
    },
    [start.run, finish.run],
  )
  const isAsked = useRef(false)
  useEffect(() => {
    if (!isOffered || isAsked.current || !hasUsedPasskey()) return
    isAsked.current = true
    void browserSupportsWebAuthnAutofill().then((isSupported) => {
      if (isSupported) void run(true)
    })
    return () => WebAuthnAbortService.cancelCeremony()
  }, [isOffered, run])
  return { isOffered, busy: start.busy || finish.busy, problem, signIn: () => void run(false) }
}
