'use client'
import { useCallback, useEffect, useState } from 'react'
import { roleLabel } from '@/access/roles.ts'
import { ApproveDeviceSignIn, DenyDeviceSignIn, type DeviceSignIn, FindDeviceSignIn } from '@/access/sign-in/device-documents.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead, Panel } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'

const DAY_S = 86_400

/** A person approves the sign-in of a program, such as `muster login --web`, after comparing its code. */
export default function DevicePage() {
  useTitle(t('device.title'))
  const find = useMutation(FindDeviceSignIn)
  const [code, setCode] = useState('')
  const [found, setFound] = useState<DeviceSignIn | null>(null)
  const [decision, setDecision] = useState<'approved' | 'denied' | null>(null)
  const search = useCallback(
    async (userCode: string) => {
      const outcome = await find.run({ userCode })
      if (outcome.ok) setFound(outcome.value.deviceSignIn)
    },
    [find.run],
  )
  useEffect(() => {
    const given = new URLSearchParams(location.hash.slice(1)).get('code')
    if (!given) return
    history.replaceState(history.state, '', location.pathname)
    setCode(given)
    void search(given)
  }, [search])
  return (
    <>
      <PageHead title={t('device.title')} />
      <div className="max-w-lg">
        <Panel title={decision ? t(`device.${decision}`) : found ? t('device.question') : t('device.enter')}>
          {decision ? (
            <p className="text-sm text-muted">{t(`device.${decision}Text`)}</p>
          ) : found ? (
            <Question code={code} request={found} onDecided={setDecision} />
          ) : (
            <form
              className="flex flex-col gap-4"
              onSubmit={(event) => {
                event.preventDefault()
                if (!find.busy) void search(code)
              }}
            >
              {find.problem && <Notice tone="bad">{find.problem.message}</Notice>}
              <TextField
                label={t('device.code')}
                hint={t('device.codeHint')}
                autoComplete="off"
                autoCapitalize="characters"
                mono
                required
                value={code}
                onChange={(event) => setCode(event.target.value)}
              />
              <div>
                <Button variant="primary" type="submit" busy={find.busy}>
                  {t('device.continue')}
                </Button>
              </div>
            </form>
          )}
        </Panel>
      </div>
    </>
  )
}

type QuestionProps = { code: string; request: DeviceSignIn; onDecided: (decision: 'approved' | 'denied') => void }

function Question({ code, request, onDecided }: QuestionProps) {
  const approve = useMutation(ApproveDeviceSignIn)
  const deny = useMutation(DenyDeviceSignIn)
  const problem = approve.problem ?? deny.problem
  const { clientName, clientAddress, isSameAddress, tokenName, role, isInstallationAdmin, tokenExpiresInSeconds, tenant } =
    request
  const busy = approve.busy || deny.busy
  const rows = [
    [t('device.machine'), clientName],
    [t('device.address'), clientAddress],
    [t('device.token'), tokenName],
    [t('device.role'), isInstallationAdmin ? t('device.roleAndInstallation', { role: roleLabel(role) }) : roleLabel(role)],
    [t('device.tenant'), tenant.name],
    [
      t('device.lifetime'),
      tokenExpiresInSeconds
        ? t('device.days', { count: Math.max(1, Math.round(tokenExpiresInSeconds / DAY_S)) })
        : t('device.defaultLifetime'),
    ],
  ]
  return (
    <div className="flex flex-col gap-4 text-sm">
      {problem && <Notice tone="bad">{problem.message}</Notice>}
      <div>
        <p className="text-muted">{t('device.compare')}</p>
        <p className="mt-2 rounded-md border border-line bg-sunken p-3 text-center font-mono text-xl tracking-widest break-all">
          {code.toUpperCase()}
        </p>
      </div>
      <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
        {rows.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
        <dt className="text-muted">{t('device.asked')}</dt>
        <dd>
          <RelativeTime at={request.startedAt} />
        </dd>
      </dl>
      <Notice tone="warn">{t(isSameAddress ? 'device.warning' : 'device.otherAddress', { address: clientAddress })}</Notice>
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          busy={busy}
          onClick={() => void approve.run({ userCode: code }).then(({ ok }) => ok && onDecided('approved'))}
        >
          {t('device.approve')}
        </Button>
        <Button
          variant="danger"
          busy={busy}
          onClick={() => void deny.run({ userCode: code }).then(({ ok }) => ok && onDecided('denied'))}
        >
          {t('device.deny')}
        </Button>
      </div>
    </div>
  )
}
