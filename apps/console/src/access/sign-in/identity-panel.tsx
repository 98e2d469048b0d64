'use client'
import { type ReactNode, useState } from 'react'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { issueFor, type Problem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'
import { useViewer } from '../viewer.tsx'
import { redirectToProvider } from './oidc-sign-in.ts'
import { SignInWithLdap, StartOidcSignIn } from './sign-in-method-documents.ts'
import { useProviderName } from './use-provider-name.ts'

type PanelProps = {
  name: string
  mutation: { busy: boolean; problem: Problem | null }
  onConnect: (currentPassword: string | null) => void
  children?: ReactNode
}

function ConnectPanel({ name, mutation: { busy, problem }, onConnect, children }: PanelProps) {
  const { hasPassword } = useViewer()
  const [password, setPassword] = useState('')
  return (
    <Panel title={t('identity.title', { name })}>
      <form
        className="flex max-w-md flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!busy) onConnect(hasPassword ? password : null)
        }}
      >
        <p className="text-sm text-muted">{t('identity.text', { name })}</p>
        {problem && problem.issues.length === 0 && <Notice tone="bad">{problem.message}</Notice>}
        {children}
        {hasPassword && (
          <TextField
            label={t('account.currentPassword')}
            type="password"
            autoComplete="current-password"
            required
            value={password}
            error={issueFor(problem, 'currentPassword')}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
        <div>
          <Button type="submit" busy={busy}>
            {t('identity.connect')}
          </Button>
        </div>
      </form>
    </Panel>
  )
}

function OidcPanel({ name }: { name: string }) {
  const start = useMutation(StartOidcSignIn)
  async function connect(currentPassword: string | null) {
    const outcome = await start.run({ input: { connect: true, currentPassword } })
    if (outcome.ok) redirectToProvider(outcome.value.url, '/settings/account')
  }
  return <ConnectPanel name={name} mutation={start} onConnect={(password) => void connect(password)} />
}

function LdapPanel({ name }: { name: string }) {
  const signIn = useMutation(SignInWithLdap)
  const restart = useFreshClient()
  const [userName, setUserName] = useState('')
  const [password, setPassword] = useState('')
  async function connect(currentPassword: string | null) {
    const outcome = await signIn.run({ input: { userName, password, connect: true, currentPassword } })
    if (!outcome.ok) return
    toast('ok', t('identity.connected'))
    restart()
  }
  return (
    <ConnectPanel name={name} mutation={signIn} onConnect={(password) => void connect(password)}>
      <TextField
        label={t('signIn.userNameAt', { name })}
        autoComplete="off"
        required
        value={userName}
        onChange={(event) => setUserName(event.target.value)}
      />
      <TextField
        label={t('signIn.passwordAt', { name })}
        type="password"
        autoComplete="off"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </ConnectPanel>
  )
}

/** Connects the user to identity providers of the installation at which the user has no identity yet. */
export function IdentityPanels() {
  const { signInMethods } = useViewer()
  const oidc = useProviderName('OIDC')
  const ldap = useProviderName('LDAP')
  const isConnected = (wanted: 'OIDC' | 'LDAP') => signInMethods.some(({ kind }) => kind === wanted)
  return (
    <>
      {oidc && !isConnected('OIDC') && <OidcPanel name={oidc} />}
      {ldap && !isConnected('LDAP') && <LdapPanel name={ldap} />}
    </>
  )
}
