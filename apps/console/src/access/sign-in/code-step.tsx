'use client'
import { useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { SessionFrame } from '../session-frame.tsx'
import { VerifySecondFactor } from './second-factor-documents.ts'

type CodeStepProps = { challenge: string; onSignedIn: () => void; onStartOver: () => void }

/** Second step of a sign-in with an authenticator app. */
export function CodeStep({ challenge, onSignedIn, onStartOver }: CodeStepProps) {
  const verify = useMutation(VerifySecondFactor)
  const [code, setCode] = useState('')
  async function submit() {
    const outcome = await verify.run({ input: { challenge, code } })
    if (outcome.ok) onSignedIn()
  }
  return (
    <SessionFrame title={t('signIn.codeTitle')} lead={t('signIn.codeLead')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!verify.busy) void submit()
        }}
      >
        {verify.problem && <Notice tone="bad">{verify.problem.message}</Notice>}
        <TextField
          label={t('signIn.code')}
          name="code"
          autoComplete="one-time-code"
          required
          autoFocus
          value={code}
          hint={t('signIn.codeHint')}
          onChange={(event) => setCode(event.target.value)}
        />
        <Button variant="primary" type="submit" busy={verify.busy}>
          {t('signIn.submit')}
        </Button>
        <Button variant="quiet" onClick={onStartOver}>
          {t('signIn.startOver')}
        </Button>
      </form>
    </SessionFrame>
  )
}
