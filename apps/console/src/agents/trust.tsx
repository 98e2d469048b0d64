'use client'
import { CircleAlert, CircleCheck, CircleHelp } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge, type Tone } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { TextField } from '@/ui/field.tsx'
import { Panel } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { type AgentDetails, type AgentKey, ApproveAgentChange } from './agent-documents.ts'
import { RevokeAgentKey } from './key-documents.ts'

const keyTones: Record<AgentKey['status'], Tone> = { ALLOWED: 'ok', WAITING: 'warn', REVOKED: 'bad' }

function Verdict({ verdict }: { verdict: AgentDetails['trust'][number] }) {
  const [Icon, look, word] =
    verdict.isOk === null
      ? ([CircleHelp, 'text-muted', 'trust.unknown'] as const)
      : verdict.isOk
        ? ([CircleCheck, 'text-ok', 'trust.ok'] as const)
        : ([CircleAlert, 'text-bad', 'trust.bad'] as const)
  return (
    <li className="flex gap-2 text-sm">
      <Icon className={`mt-0.5 size-4 shrink-0 ${look}`} aria-label={t(word)} />
      <span className="min-w-0">
        <span className="font-medium">{t(`agentCheck.${verdict.check}`)}</span>{' '}
        <span className="break-words text-muted">{verdict.message}</span>
      </span>
    </li>
  )
}

function KeyItem({ agentKey, isCurrent, onRevoke }: { agentKey: AgentKey; isCurrent: boolean; onRevoke: () => void }) {
  const createdAt = () => <RelativeTime at={agentKey.createdAt} />
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line py-2 text-sm first:border-0">
      <div className="min-w-0 flex-1 basis-56">
        <div className="flex flex-wrap items-center gap-2">
          <Badge tone={keyTones[agentKey.status]}>{t(`agentKeyStatus.${agentKey.status}`)}</Badge>
          {isCurrent && <Badge>{t('trust.current')}</Badge>}
          {agentKey.note && <span className="text-muted">{agentKey.note}</span>}
        </div>
        <code className="font-mono text-xs break-all" title={agentKey.fingerprint}>
          {agentKey.publicKey}
        </code>
        <p className="text-xs text-muted">
          {agentKey.seenFrom
            ? t.rich('trust.presentedFrom', { name: agentKey.createdBy.name, from: agentKey.seenFrom, time: createdAt })
            : t.rich('trust.addedBy', { name: agentKey.createdBy.name, time: createdAt })}
          {agentKey.revokedAt && (
            <>
              {' · '}
              {t.rich('trust.revokedBy', {
                name: agentKey.revokedBy?.name ?? '',
                reason: agentKey.revokedReason ?? '',
                time: () => <RelativeTime at={agentKey.revokedAt} />,
              })}
            </>
          )}
        </p>
      </div>
      <Button variant="danger" blockedReason={agentKey.revokeBlockedReason} onClick={onRevoke}>
        {t('trust.revoke')}
      </Button>
    </li>
  )
}

/** Trust checks of an agent and its keys. */
export function Trust({ agent, nodeId }: { agent: AgentDetails; nodeId: string }) {
  const approve = useMutation(ApproveAgentChange)
  const revoke = useMutation(RevokeAgentKey)
  const [isApproving, setApproving] = useState(false)
  const [revoking, setRevoking] = useState<AgentKey | null>(null)
  const [reason, setReason] = useState('')
  // One key at a time, because each must be compared.
  const waiting = agent.keys.filter((key) => key.status === 'WAITING').slice(0, 1)
  const isWaiting = waiting.length > 0 || agent.offeredFingerprint !== null
  return (
    <Panel
      title={t('trust.title')}
      actions={
        isWaiting && (
          <Button variant="primary" blockedReason={agent.approveBlockedReason} onClick={() => setApproving(true)}>
            {t('trust.approve')}
          </Button>
        )
      }
    >
      <ul className="flex flex-col gap-2">
        {agent.trust.map((verdict) => (
          <Verdict key={verdict.check} verdict={verdict} />
        ))}
      </ul>
      <h3 className="pt-4 pb-1 text-sm font-semibold">{t('trust.keys')}</h3>
      {agent.keys.length === 0 ? (
        <p className="text-sm text-muted">{t('trust.noKeys')}</p>
      ) : (
        <ul>
          {agent.keys.map((key) => (
            <KeyItem
              key={key.id}
              agentKey={key}
              isCurrent={key.id === agent.key?.id}
              onRevoke={() => {
                setReason('')
                setRevoking(key)
              }}
            />
          ))}
        </ul>
      )}
      {isApproving && (
        <Confirm
          title={t('trust.approveTitle', { name: agent.agentId })}
          action={t('trust.approve')}
          onClose={() => setApproving(false)}
          onConfirm={() => approve.run({ nodeId, keyId: waiting[0]?.id ?? null, fingerprint: agent.offeredFingerprint })}
        >
          <p>{t('trust.approveText')}</p>
          {waiting.map((key) => (
            <p key={key.id} className="flex flex-col">
              <span className="text-muted">{t('trust.newKey')}</span>
              <code className="font-mono text-xs break-all">{key.publicKey}</code>
            </p>
          ))}
          {agent.offeredFingerprint && (
            <p className="flex flex-col">
              <span className="text-muted">{t('trust.newHardware')}</span>
              <code className="font-mono text-xs break-all">{agent.offeredFingerprint}</code>
            </p>
          )}
        </Confirm>
      )}
      {revoking && (
        <Confirm
          title={t('trust.revokeTitle')}
          action={t('trust.revoke')}
          onClose={() => setRevoking(null)}
          onConfirm={() => revoke.run({ id: revoking.id, reason })}
        >
          <p>{t('trust.revokeText')}</p>
          <code className="font-mono text-xs break-all">{revoking.publicKey}</code>
          <TextField label={t('trust.revokeReason')} value={reason} onChange={(event) => setReason(event.target.value)} />
        </Confirm>
      )}
    </Panel>
  )
}
