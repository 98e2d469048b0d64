'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Tabs } from '@/ui/tabs.tsx'
import { AllowAgentKey, CreateEnrollmentToken } from './key-documents.ts'

const lifetimes = ['60', '1440', '10080'] as const
const installCommand = 'sudo apt install ./muster-agent_*.deb'
const registerCommand = (url: string, name: string) =>
  [
    `printf 'api-url: %s\\nnode-id: %s\\ncluster-id: %s\\n' ${url} ${name} my-cluster | sudo tee -a /etc/muster/agent.yaml`,
    'sudo muster-agent init',
    'sudo muster-agent register --token-file -',
    'sudo systemctl enable --now muster-agent',
  ].join('\n')
type Props = { node?: { id: string; name: string }; onClose: () => void; onCreated?: () => void }

/** A text with a copy button. */
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

/** Shows a new token, once, with the commands to run on the machine. */
function CreatedToken({
  token,
  expiresAt,
  name,
  onClose,
}: {
  token: string
  expiresAt: string
  name: string
  onClose: () => void
}) {
  return (
    <Dialog
      title={t('enroll.madeTitle')}
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('enroll.done')}
        </Button>
      }
    >
      <div className="flex flex-col gap-3 text-sm">
        <Notice tone="warn">{t('enroll.once', { until: formatDateTime(expiresAt) })}</Notice>
        <Copyable text={token} testId="enrollment-token" />
        <p>{t('enroll.install')}</p>
        <Copyable text={installCommand} />
        <p>{t('enroll.register')}</p>
        <Copyable text={registerCommand(location.origin, name)} />
        <p className="text-xs text-muted">{t('enroll.orTemplate')}</p>
      </div>
    </Dialog>
  )
}

/** Enrolls an agent by a one-time token or by its public key. */
export function EnrollDialog({ node, onClose, onCreated }: Props) {
  const create = useMutation(CreateEnrollmentToken)
  const allow = useMutation(AllowAgentKey)
  const [method, setMethod] = useState<'token' | 'key'>('token')
  const [minutes, setMinutes] = useState<string>('60')
  const [note, setNote] = useState('')
  const [publicKey, setPublicKey] = useState('')
  const [agentId, setAgentId] = useState('')
  const [created, setCreated] = useState<{ token: string; expiresAt: string } | null>(null)
  const [allowed, setAllowed] = useState<string | null>(null)
  const nodeId = node?.id ?? null
  async function send() {
    if (method === 'token') {
      const outcome = await create.run({ nodeId, expiresInSeconds: Number(minutes) * 60, note })
      if (!outcome.ok) return
      setCreated({ token: outcome.value.token, expiresAt: outcome.value.agentEnrollmentToken.expiresAt })
      onCreated?.()
    } else {
      const outcome = await allow.run({ publicKey, nodeId, agentId: agentId.trim() || null, note })
      if (outcome.ok) setAllowed(outcome.value.agentKey.fingerprint)
    }
  }
  if (created)
    return (
      <CreatedToken token={created.token} expiresAt={created.expiresAt} name={node?.name ?? '"$(hostname)"'} onClose={onClose} />
    )
  const mutation = method === 'token' ? create : allow
  const isAtField = (mutation.problem?.issues ?? []).length > 0
  return (
    <Dialog
      title={node ? t('enroll.titleNode', { name: node.name }) : t('enroll.title')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{allowed ? t('common.close') : t('common.cancel')}</Button>
          {!allowed && (
            <Button
              variant="primary"
              busy={mutation.busy}
              showReason
              blockedReason={method === 'key' && !publicKey.trim() ? t('enroll.needKey') : null}
              onClick={() => void send()}
            >
              {method === 'token' ? t('enroll.make') : t('enroll.allow')}
            </Button>
          )}
        </>
      }
    >
      <Tabs
        label={t('enroll.methods')}
        value={method}
        onChange={setMethod}
        tabs={[
          { key: 'token', label: t('enroll.byToken') },
          { key: 'key', label: t('enroll.byKey') },
        ]}
      >
        <div className="flex flex-col gap-4">
          {mutation.problem && !isAtField && <Notice tone="bad">{mutation.problem.message}</Notice>}
          {allowed && (
            <Notice>
              {t('enroll.allowed')} <code className="font-mono text-xs break-all">{allowed}</code>
            </Notice>
          )}
          <p className="text-sm text-muted">{method === 'token' ? t('enroll.tokenText') : t('enroll.keyText')}</p>
          {method === 'token' ? (
            <SelectField label={t('enroll.expires')} value={minutes} onChange={(event) => setMinutes(event.target.value)}>
              {lifetimes.map((each) => (
                <option key={each} value={each}>
                  {t(`enroll.for.${each}`)}
                </option>
              ))}
            </SelectField>
          ) : (
            <>
              <TextField
                label={t('enroll.key')}
                hint={t('enroll.keyHint')}
                mono
                value={publicKey}
                onChange={(event) => setPublicKey(event.target.value)}
                error={issueFor(allow.problem, 'publicKey')}
                autoComplete="off"
              />
              <TextField
                label={t('enroll.agentId')}
                hint={node ? t('enroll.agentIdHintNode', { name: node.name }) : t('enroll.agentIdHint')}
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
            label={t('enroll.note')}
            optional
            value={note}
            onChange={(event) => setNote(event.target.value)}
            error={issueFor(mutation.problem, 'note')}
          />
        </div>
      </Tabs>
    </Dialog>
  )
}
