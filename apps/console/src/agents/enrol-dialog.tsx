'use client'
import { useState } from 'react'
import { issueFor, useVerb } from '@/graphql/use-verb.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Tabs } from '@/ui/tabs.tsx'
import { AllowAgentKey, CreateEnrolmentToken } from './key-documents.ts'

const lifetimes = ['60', '1440', '10080'] as const
type Props = { node?: { id: string; name: string }; onClose: () => void; onMade?: () => void }

/** Something to be copied, in a box of its own. */
function Copyable({ text, testId }: { text: string; testId?: string }) {
  return (
    <div className="flex items-start gap-2 rounded-md border border-line bg-sunken p-2">
      <code data-testid={testId} className="min-w-0 flex-1 font-mono text-xs break-all whitespace-pre-wrap">
        {text}
      </code>
      <CopyButton text={text} />
    </div>
  )
}

/** A new token, once, and what to type on the machine. */
function Made({ token, expiresAt, name, onClose }: { token: string; expiresAt: string; name: string; onClose: () => void }) {
  return (
    <Dialog
      title={t('enrol.madeTitle')}
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          {t('enrol.done')}
        </Button>
      }
    >
      <div className="flex flex-col gap-3 text-sm">
        <Notice tone="warn">{t('enrol.once', { until: formatDateTime(expiresAt) })}</Notice>
        <Copyable text={token} testId="enrolment-token" />
        <p>{t('enrol.install')}</p>
        <Copyable text={t('enrol.installCommand')} />
        <p>{t('enrol.register')}</p>
        <Copyable text={t('enrol.registerCommand', { url: location.origin, name })} />
        <p className="text-xs text-muted">{t('enrol.orTemplate')}</p>
      </div>
    </Dialog>
  )
}

/** Let a node's agent in: by a token that works once, or by its public key. */
export function EnrolDialog({ node, onClose, onMade }: Props) {
  const create = useVerb(CreateEnrolmentToken)
  const allow = useVerb(AllowAgentKey)
  const [way, setWay] = useState<'token' | 'key'>('token')
  const [minutes, setMinutes] = useState<string>('60')
  const [note, setNote] = useState('')
  const [publicKey, setPublicKey] = useState('')
  const [agentId, setAgentId] = useState('')
  const [made, setMade] = useState<{ token: string; expiresAt: string } | null>(null)
  const [allowed, setAllowed] = useState<string | null>(null)
  const nodeId = node?.id ?? null
  async function send() {
    if (way === 'token') {
      const outcome = await create.run({ nodeId, expiresInMinutes: Number(minutes), note })
      if (!outcome.ok) return
      setMade(outcome.value)
      onMade?.()
    } else {
      const outcome = await allow.run({ publicKey, nodeId, agentId: agentId.trim() || null, note })
      if (outcome.ok) setAllowed(outcome.value.fingerprint)
    }
  }
  if (made) return <Made token={made.token} expiresAt={made.expiresAt} name={node?.name ?? '"$(hostname)"'} onClose={onClose} />
  const verb = way === 'token' ? create : allow
  const isAtField = (verb.problem?.issues ?? []).length > 0
  return (
    <Dialog
      title={node ? t('enrol.titleNode', { name: node.name }) : t('enrol.title')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{allowed ? t('common.close') : t('common.cancel')}</Button>
          {!allowed && (
            <Button
              look="primary"
              busy={verb.busy}
              saysReason
              blockedReason={way === 'key' && !publicKey.trim() ? t('enrol.needKey') : null}
              onClick={() => void send()}
            >
              {way === 'token' ? t('enrol.make') : t('enrol.allow')}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Tabs
          label={t('enrol.ways')}
          value={way}
          onChange={setWay}
          tabs={[
            { key: 'token', label: t('enrol.byToken') },
            { key: 'key', label: t('enrol.byKey') },
          ]}
        />
        <div role="tabpanel" id={`panel-${way}`} aria-labelledby={`tab-${way}`} className="flex flex-col gap-4">
          {verb.problem && !isAtField && <Notice tone="bad">{verb.problem.message}</Notice>}
          {allowed && (
            <Notice>
              {t('enrol.allowed')} <code className="font-mono text-xs break-all">{allowed}</code>
            </Notice>
          )}
          <p className="text-sm text-muted">{way === 'token' ? t('enrol.tokenText') : t('enrol.keyText')}</p>
          {way === 'token' ? (
            <SelectField label={t('enrol.expires')} value={minutes} onChange={(event) => setMinutes(event.target.value)}>
              {lifetimes.map((each) => (
                <option key={each} value={each}>
                  {t(`enrol.for.${each}`)}
                </option>
              ))}
            </SelectField>
          ) : (
            <>
              <TextField
                label={t('enrol.key')}
                hint={t('enrol.keyHint')}
                mono
                value={publicKey}
                onChange={(event) => setPublicKey(event.target.value)}
                error={issueFor(allow.problem, 'publicKey')}
                autoComplete="off"
              />
              <TextField
                label={t('enrol.agentId')}
                hint={node ? t('enrol.agentIdHintNode', { name: node.name }) : t('enrol.agentIdHint')}
                optional
                mono
                value={agentId}
                onChange={(event) => setAgentId(event.target.value)}
                error={issueFor(allow.problem, 'agentId')}
                autoComplete="off"
              />
            </>
          )}
          <TextField
            label={t('enrol.note')}
            optional
            value={note}
            onChange={(event) => setNote(event.target.value)}
            error={issueFor(verb.problem, 'note')}
          />
        </div>
      </div>
    </Dialog>
  )
}
