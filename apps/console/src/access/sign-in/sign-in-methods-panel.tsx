'use client'
import { useState } from 'react'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Panel } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'
import type { Viewer } from '../session-documents.ts'
import { useViewer } from '../viewer.tsx'
import { DisconnectIdentity } from './passkey-documents.ts'
import { PasswordStep } from './password-step.tsx'

type Method = Viewer['signInMethods'][number]

/** Lists how the user signs in. Removes the password, or disconnects an identity; passkeys have their own panel. */
export function SignInMethodsPanel() {
  const { signInMethods } = useViewer()
  const [removing, setRemoving] = useState<Method | null>(null)
  return (
    <Panel title={t('identity.methods')} flush>
      <ul>
        {signInMethods.map((method) => (
          <li
            key={method.kind}
            className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 text-sm last:border-0"
          >
            <div className="min-w-0 flex-1 basis-52">
              <p className="font-medium">{t(`signInMethods.kind.${method.kind}`)}</p>
              {method.kind === 'PASSKEY' ? (
                <p className="text-xs text-muted">{t('passkeys.count', { count: method.count })}</p>
              ) : (
                method.name && <p className="text-xs break-all text-muted">{method.name}</p>
              )}
            </div>
            {method.kind !== 'PASSKEY' && (
              <Button variant="danger" blockedReason={method.removeBlockedReason} onClick={() => setRemoving(method)}>
                {t(method.kind === 'PASSWORD' ? 'identity.removePassword' : 'identity.disconnect')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {removing && <RemoveDialog method={removing} onClose={() => setRemoving(null)} />}
    </Panel>
  )
}

function RemoveDialog({ method: { kind }, onClose }: { method: Method; onClose: () => void }) {
  const disconnect = useMutation(DisconnectIdentity)
  const restart = useFreshClient()
  const isPassword = kind === 'PASSWORD'
  async function submit(currentPassword: string | null) {
    if (!(await disconnect.run({ input: { kind, currentPassword } })).ok) return
    toast('ok', t(isPassword ? 'identity.passwordRemoved' : 'identity.disconnected'))
    restart()
    onClose()
  }
  return (
    <PasswordStep
      title={t(isPassword ? 'identity.removePassword' : 'identity.disconnectTitle', { name: t(`signInMethods.kind.${kind}`) })}
      text={t(isPassword ? 'identity.removePasswordText' : 'identity.disconnectText')}
      submitLabel={t(isPassword ? 'identity.removePassword' : 'identity.disconnect')}
      danger
      mutation={disconnect}
      onSubmit={(password) => void submit(password)}
      onClose={onClose}
    />
  )
}
