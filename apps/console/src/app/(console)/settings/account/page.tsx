'use client'
import Link from 'next/link'
import { EmailPanel } from '@/access/email-panel.tsx'
import { PasswordForm } from '@/access/password-form.tsx'
import { SessionsPanel } from '@/access/sessions-panel.tsx'
import { IdentityPanels } from '@/access/sign-in/identity-panel.tsx'
import { PasskeyPanel } from '@/access/sign-in/passkey-panel.tsx'
import { SecondFactorPanel } from '@/access/sign-in/second-factor-panel.tsx'
import { SignInMethodsPanel } from '@/access/sign-in/sign-in-methods-panel.tsx'
import { useViewer } from '@/access/viewer.tsx'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { t } from '@/messages/index.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead, Panel } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'

/** The user's own name, email, password, second factor and sessions. */
export default function AccountPage() {
  useTitle(t('nav.account'))
  const viewer = useViewer()
  const restart = useFreshClient()
  function onSaved() {
    toast('ok', t('account.saved'))
    restart()
  }
  return (
    <>
      <PageHead title={t('nav.account')} />
      <div className="flex max-w-2xl flex-col gap-4">
        <Panel title={t('account.profile')}>
          <div className="max-w-md">
            <PasswordForm viewer={viewer} submitLabel={t('common.save')} onSaved={onSaved} />
          </div>
        </Panel>
        <EmailPanel />
        <SignInMethodsPanel />
        <PasskeyPanel />
        <SecondFactorPanel />
        <IdentityPanels />
        <SessionsPanel />
        <Link href="/settings/tokens" className="text-sm text-accent hover:underline">
          {t('account.tokens')}
        </Link>
      </div>
    </>
  )
}
