'use client'
import { KeyRound } from 'lucide-react'
import { useEffect, useState } from 'react'
import { onStepUp } from '@/graphql/step-up.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import type { Viewer } from '../session-documents.ts'
import { useViewer } from '../viewer.tsx'
import { confirmAtProvider } from './confirm-at-provider.ts'
import { askForPasskey } from './passkeys.ts'
import { ConfirmIdentity, StartPasskeyConfirmation } from './step-up-documents.ts'
import { useProviderName } from './use-provider-name.ts'

const WAYS = ['PASSKEY', 'PASSWORD', 'CODE', 'OIDC', 'LDAP'] as const
type Way = (typeof WAYS)[number]

function waysOf({ signInMethods, hasSecondFactor }: Viewer): Way[] {
  const kinds = new Set<string>(signInMethods.map(({ kind }) => kind))
  if (hasSecondFactor) kinds.add('CODE')
  return WAYS.filter((way) => kinds.has(way))
}

/** Asks for the user's identity when the API refuses a mutation without a recent proof. The mutation is then repeated. */
export function StepUp() {
  const [resolve, setResolve] = useState<((isConfirmed: boolean) => void) | null>(null)
  useEffect(() => onStepUp(() => new Promise<boolean>((done) => setResolve(() => done))), [])
  if (!resolve) return null
  const end = (isConfirmed: boolean) => {
    setResolve(null)
    resolve(isConfirmed)
  }
  return <StepUpDialog onConfirmed={() => end(true)} onClose={() => end(false)} />
}

function StepUpDialog({ onConfirmed, onClose }: { onConfirmed: () => void; onClose: () => void }) {
  const ways = waysOf(useViewer())
  const [chosen, setChosen] = useState<Way | undefined>(ways[0])
  const confirm = useMutation(ConfirmIdentity)
  const start = useMutation(StartPasskeyConfirmation)
  const [text, setText] = useState('')
  const [userName, setUserName] = useState('')
  const [refusal, setRefusal] = useState<string | null>(null)
  const oidc = useProviderName('OIDC') ?? t('signInMethods.kind.OIDC')
  const ldap = useProviderName('LDAP') ?? t('signInMethods.kind.LDAP')
  const labels: Record<Way, string> = {
    PASSKEY: t('signInMethods.kind.PASSKEY'),
    PASSWORD: t('signIn.password'),
    CODE: t('stepUp.code'),
    OIDC: oidc,
    LDAP: ldap,
  }
  type Proof = Parameters<typeof confirm.run>[0]['input']
  async function send(input: Proof) {
    if ((await confirm.run({ input })).ok) onConfirmed()
  }
  async function confirmWithPasskey() {
    const started = await start.run({})
    if (!started.ok) return
    const { challenge, options } = started.value
    const { response, problem } = await askForPasskey(options)
    if (problem !== null) return setRefusal(problem)
    await send({ passkey: { challenge, response } })
  }
  async function submit() {
    setRefusal(null)
    if (chosen === 'PASSKEY') return confirmWithPasskey()
    if (chosen === 'PASSWORD') return send({ password: text })
    if (chosen === 'CODE') return send({ code: text })
    if (chosen === 'LDAP') return send({ ldap: { userName, password: text } })
    if (await confirmAtProvider()) onConfirmed()
    else setRefusal(t('stepUp.notConfirmed', { name: oidc }))
  }
  function choose(way: Way) {
    setChosen(way)
    setText('')
    setRefusal(null)
    confirm.clear()
  }
  const needsText = chosen === 'PASSWORD' || chosen === 'CODE' || chosen === 'LDAP'
  const issue = confirm.problem?.issues[0]?.message
  const problem = refusal ?? start.problem?.message ?? (issue ? null : confirm.problem?.message)
  const signInAgain = `/sign-in?next=${encodeURIComponent(location.pathname)}`
  return (
    <Dialog
      title={t('stepUp.title')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          {chosen && (
            <Button
              variant="primary"
              icon={chosen === 'PASSKEY' ? <KeyRound aria-hidden /> : undefined}
              busy={confirm.busy || start.busy}
              showReason
              blockedReason={needsText && !text ? t(chosen === 'CODE' ? 'stepUp.needCode' : 'mfa.needPassword') : null}
              onClick={() => void submit()}
            >
              {chosen === 'PASSKEY'
                ? t('stepUp.withPasskey')
                : chosen === 'OIDC'
                  ? t('signIn.with', { name: oidc })
                  : t('stepUp.confirm')}
            </Button>
          )}
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!confirm.busy && (!needsText || text)) void submit()
        }}
      >
        {problem && <Notice tone="bad">{problem}</Notice>}
        <p className="text-sm text-muted">{t(chosen ? 'stepUp.text' : 'stepUp.noWay')}</p>
        {chosen === 'LDAP' && (
          <TextField
            label={t('signIn.userNameAt', { name: ldap })}
            autoComplete="username"
            value={userName}
            onChange={(event) => setUserName(event.target.value)}
          />
        )}
        {needsText && (
          <TextField
            key={chosen}
            label={
              chosen === 'CODE' ? t('signIn.code') : chosen === 'LDAP' ? t('signIn.passwordAt', { name: ldap }) : labels[chosen]
            }
            type={chosen === 'CODE' ? 'text' : 'password'}
            inputMode={chosen === 'CODE' ? 'numeric' : undefined}
            autoComplete={chosen === 'CODE' ? 'one-time-code' : 'current-password'}
            autoFocus
            value={text}
            error={issue}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs">
          {ways
            .filter((way) => way !== chosen)
            .map((way) => (
              <button key={way} type="button" className="text-accent hover:underline" onClick={() => choose(way)}>
                {t('stepUp.useInstead', { way: labels[way] })}
              </button>
            ))}
          <a href={signInAgain} className="text-accent hover:underline">
            {t('stepUp.signInAgain')}
          </a>
        </div>
      </form>
    </Dialog>
  )
}
