'use client'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { ConfirmEmailChange } from '@/access/session-documents.ts'
import { SessionFrame } from '@/access/session-frame.tsx'
import { useLinkToken } from '@/access/use-link-token.ts'
import { useCurrentViewer } from '@/access/viewer.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Notice } from '@/ui/notice.tsx'

/** Opened by the link of an email: changes the email address of the signed-in user. */
export default function ConfirmEmailPage() {
  const token = useLinkToken()
  const router = useRouter()
  const { viewer, problem, retry } = useCurrentViewer()
  const confirm = useMutation(ConfirmEmailChange)
  const [changedTo, setChangedTo] = useState<string | null>(null)
  async function submit() {
    const outcome = await confirm.run({ token: token ?? '' })
    if (outcome.ok) setChangedTo(outcome.value.viewer.user?.email ?? '')
  }
  const isLoading = token === undefined || (viewer === undefined && !problem)
  return (
    <SessionFrame title={t('email.confirmTitle')}>
      {problem ? (
        <Failure title={t('error.load')} message={problem.message} onRetry={retry} />
      ) : isLoading ? (
        <div className="skeleton h-24 w-full" />
      ) : changedTo !== null ? (
        <div className="flex flex-col gap-4">
          <Notice tone="info">{t('email.changed', { email: changedTo })}</Notice>
          <Button variant="primary" onClick={() => router.replace('/settings/account')}>
            {t('email.continue')}
          </Button>
        </div>
      ) : !viewer ? (
        <div className="flex flex-col gap-4">
          <Notice tone="warn">{t('email.signInFirst')}</Notice>
          <Button onClick={() => router.replace('/sign-in')}>{t('signIn.title')}</Button>
        </div>
      ) : (
        <div className="flex flex-col gap-4">
          {confirm.problem && <Notice tone="bad">{confirm.problem.message}</Notice>}
          <p className="text-sm text-muted">{t('email.confirmText', { name: viewer.name, email: viewer.user?.email ?? '' })}</p>
          <Button variant="primary" busy={confirm.busy} onClick={() => void submit()}>
            {t('email.confirm')}
          </Button>
        </div>
      )}
    </SessionFrame>
  )
}
