'use client'
import { PasswordForm } from '@/access/password-form.tsx'
import { useViewer } from '@/access/viewer.tsx'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { t } from '@/messages/index.ts'
import { PageHead, Panel } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'
import { useTitle } from '@/ui/use-title.ts'

/** The user's own name, email and password. */
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
      <div className="max-w-md">
        <Panel>
          <PasswordForm viewer={viewer} submitLabel={t('common.save')} onSaved={onSaved} />
        </Panel>
      </div>
    </>
  )
}
