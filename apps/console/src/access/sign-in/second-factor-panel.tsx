'use client'
import { useState } from 'react'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'
import { useViewer } from '../viewer.tsx'
import { PasswordStep } from './password-step.tsx'
import { QrCode } from './qr-code.tsx'
import { ConfirmTotp, RemoveTotp, ReplaceRecoveryCodes, StartTotp } from './second-factor-documents.ts'

type Action = 'setUp' | 'renew' | 'remove'

/** Turns sign-in with an authenticator app on and off. */
export function SecondFactorPanel() {
  const { hasSecondFactor } = useViewer()
  const [action, setAction] = useState<Action | null>(null)
  const onClose = () => setAction(null)
  return (
    <Panel
      title={t('mfa.title')}
      actions={hasSecondFactor ? <Badge tone="ok">{t('mfa.on')}</Badge> : <Badge>{t('mfa.off')}</Badge>}
    >
      <div className="flex flex-col gap-3">
        <p className="text-sm text-muted">{t(hasSecondFactor ? 'mfa.onText' : 'mfa.offText')}</p>
        <div className="flex flex-wrap gap-2">
          {hasSecondFactor ? (
            <>
              <Button onClick={() => setAction('renew')}>{t('mfa.renew')}</Button>
              <Button variant="danger" onClick={() => setAction('remove')}>
                {t('mfa.remove')}
              </Button>
            </>
          ) : (
            <Button onClick={() => setAction('setUp')}>{t('mfa.setUp')}</Button>
          )}
        </div>
      </div>
      {action === 'setUp' && <SetUpDialog onClose={onClose} />}
      {action === 'renew' && <RenewDialog onClose={onClose} />}
      {action === 'remove' && <RemoveDialog onClose={onClose} />}
    </Panel>
  )
}

function SetUpDialog({ onClose }: { onClose: () => void }) {
  const start = useMutation(StartTotp)
  const confirm = useMutation(ConfirmTotp)
  const restart = useFreshClient()
  const [started, setStarted] = useState<{ uri: string; recoveryCodes: readonly string[] } | null>(null)
  const [code, setCode] = useState('')
  async function begin(currentPassword: string | null) {
    const outcome = await start.run({ input: { currentPassword } })
    if (outcome.ok) setStarted(outcome.value)
  }
  async function finish() {
    const outcome = await confirm.run({ input: { code } })
    if (!outcome.ok) return
    toast('ok', t('mfa.turnedOn'))
    // The session has a new token. Open connections still use the previous one.
    restart()
    onClose()
  }
  if (!started)
    return (
      <PasswordStep
        title={t('mfa.setUp')}
        text={t('mfa.setUpText')}
        submitLabel={t('mfa.continue')}
        mutation={start}
        onSubmit={(password) => void begin(password)}
        onClose={onClose}
      />
    )
  const secret = new URL(started.uri).searchParams.get('secret') ?? ''
  return (
    <Dialog
      title={t('mfa.setUp')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={confirm.busy}
            showReason
            blockedReason={/^\d{6}$/.test(code.trim()) ? null : t('mfa.needCode')}
            onClick={() => void finish()}
          >
            {t('mfa.turnOn')}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!confirm.busy) void finish()
        }}
      >
        <div className="flex flex-wrap gap-4">
          <QrCode text={started.uri} label={t('mfa.qrCode')} />
          <div className="flex min-w-0 flex-1 basis-44 flex-col gap-2 text-sm">
            <p>{t('mfa.scan')}</p>
            <p className="text-muted">{t('mfa.enterKey')}</p>
            <div className="flex items-center gap-2">
              <code data-testid="totp-secret" className="min-w-0 font-mono text-xs break-all">
                {secret}
              </code>
              <CopyButton text={secret} label={t('common.copy')} />
            </div>
          </div>
        </div>
        <RecoveryCodes codes={started.recoveryCodes} />
        <TextField
          label={t('signIn.code')}
          inputMode="numeric"
          autoComplete="one-time-code"
          value={code}
          error={issueFor(confirm.problem, 'code') ?? confirm.problem?.message}
          onChange={(event) => setCode(event.target.value)}
        />
      </form>
    </Dialog>
  )
}

function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  return (
    <div className="flex flex-col gap-2">
      <Notice tone="warn">{t('mfa.recoveryText')}</Notice>
      <div className="flex items-start gap-2 rounded-md border border-line bg-sunken p-2">
        <ul className="grid flex-1 grid-cols-2 gap-x-4 gap-y-1 font-mono text-xs">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <CopyButton quiet={false} text={codes.join('\n')} label={t('common.copy')} />
      </div>
    </div>
  )
}

function RenewDialog({ onClose }: { onClose: () => void }) {
  const mutation = useMutation(ReplaceRecoveryCodes)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  async function renew(currentPassword: string | null) {
    const outcome = await mutation.run({ input: { currentPassword } })
    if (outcome.ok) setCodes(outcome.value.recoveryCodes)
  }
  if (!codes)
    return (
      <PasswordStep
        title={t('mfa.renew')}
        text={t('mfa.renewText')}
        submitLabel={t('mfa.renew')}
        mutation={mutation}
        onSubmit={(password) => void renew(password)}
        onClose={onClose}
      />
    )
  return (
    <Dialog
      title={t('mfa.renew')}
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('tokens.createdDone')}
        </Button>
      }
    >
      <RecoveryCodes codes={codes} />
    </Dialog>
  )
}

function RemoveDialog({ onClose }: { onClose: () => void }) {
  const mutation = useMutation(RemoveTotp)
  const restart = useFreshClient()
  async function remove(currentPassword: string | null) {
    const outcome = await mutation.run({ input: { currentPassword } })
    if (!outcome.ok) return
    toast('ok', t('mfa.turnedOff'))
    restart()
    onClose()
  }
  return (
    <PasswordStep
      title={t('mfa.remove')}
      text={t('mfa.removeText')}
      submitLabel={t('mfa.remove')}
      danger
      mutation={mutation}
      onSubmit={(password) => void remove(password)}
      onClose={onClose}
    />
  )
}
