'use client'
import { useRouter } from 'next/navigation'
import { useEffect } from 'react'
import { PasswordForm } from '@/access/password-form.tsx'
import { SessionFrame } from '@/access/session-frame.tsx'
import { useCurrentViewer } from '@/access/viewer.tsx'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'

/** First run: the user of a sign-in link sets a password. */
export default function WelcomePage() {
  const { viewer, problem, retry } = useCurrentViewer()
  const router = useRouter()
  const target = viewer === null ? '/sign-in' : viewer && !viewer.needsPassword ? '/settings/account' : null
  useEffect(() => {
    if (target) router.replace(target)
  }, [target, router])
  return (
    <SessionFrame title={t('welcome.title')} lead={t('welcome.lead')}>
      {problem ? (
        <Failure title={t('error.load')} message={problem.message} onRetry={retry} />
      ) : viewer && !target ? (
        <PasswordForm viewer={viewer} submitLabel={t('welcome.submit')} onSaved={() => router.replace('/nodes')} />
      ) : (
        <div className="skeleton h-52 w-full" />
      )}
    </SessionFrame>
  )
}
