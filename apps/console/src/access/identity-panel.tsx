'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { useOidcName } from './oidc-button.tsx'
import { leaveForProvider } from './oidc-sign-in.ts'
import { StartOidcSignIn } from './sign-in-method-documents.ts'
import { useViewer } from './viewer.tsx'

/** Connects the user's identity at the OpenID Connect provider, if the installation has one. */
export function IdentityPanel() {
  const name = useOidcName()
  const { hasPassword } = useViewer()
  const start = useMutation(StartOidcSignIn)
  const [password, setPassword] = useState('')
  async function connect() {
    const outcome = await start.run({ input: { connect: true, currentPassword: hasPassword ? password : null } })
    if (outcome.ok) leaveForProvider(outcome.value.url, '/settings/account')
  }
  if (!name) return null
  return (
    <Panel title={t('identity.title', { name })}>
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!start.busy) void connect()
        }}
      >
        <p className="text-sm text-muted">{t('identity.text', { name })}</p>
        {start.problem && start.problem.issues.length === 0 && <Notice tone="bad">{start.problem.message}</Notice>}
        {hasPassword && (
          <TextField
            label={t('account.currentPassword')}
            type="password"
            autoComplete="current-password"
            required
            value={password}
            error={issueFor(start.problem, 'currentPassword')}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
        <div>
          <Button type="submit" busy={start.busy}>
            {t('identity.connect')}
          </Button>
        </div>
      </form>
    </Panel>
  )
}
