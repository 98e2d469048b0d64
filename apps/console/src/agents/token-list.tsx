'use client'
import { KeyRound } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useVerb } from '@/graphql/use-verb.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge, type Tone } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { Ago } from '@/ui/time.tsx'
import type { useQueryState } from '@/ui/use-query-state.ts'
import { type EnrolmentToken, EnrolmentTokensQuery, RevokeEnrolmentToken } from './token-documents.ts'

const tones: Record<EnrolmentToken['state'], Tone> = { USABLE: 'accent', USED: 'ok', EXPIRED: 'neutral', REVOKED: 'bad' }

/** What became of a token, or until when it works. */
function fate({ state, usedAt, usedByNode, usedFrom, revokedAt, revokedByName, expiresAt }: EnrolmentToken): string {
  if (state === 'USED')
    return t('enrolmentToken.usedBy', { name: usedByNode?.name ?? usedFrom ?? '', when: formatDateTime(usedAt ?? expiresAt) })
  if (state === 'REVOKED')
    return t('enrolmentToken.revokedBy', { name: revokedByName ?? '', when: formatDateTime(revokedAt ?? expiresAt) })
  return t(state === 'EXPIRED' ? 'enrolmentToken.expiredAt' : 'enrolmentToken.until', { when: formatDateTime(expiresAt) })
}

function TokenItem({ token, onRevoke }: { token: EnrolmentToken; onRevoke: () => void }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="flex min-w-0 flex-1 basis-56 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-2">
          <code className="font-mono text-xs font-medium">{t('tokens.prefix', { prefix: token.prefix })}</code>
          <Badge tone={tones[token.state]}>{t(`enrolmentTokenState.${token.state}`)}</Badge>
          <span>{token.node ? t('enrolmentToken.for', { name: token.node.name }) : t('enrolmentToken.forAny')}</span>
        </div>
        {token.note && <p className="break-words whitespace-pre-line text-muted">{token.note}</p>}
        <p className="text-xs text-muted">
          {t('enrolmentToken.madeBy', { name: token.createdByName })} <Ago at={token.createdAt} /> · {fate(token)}
        </p>
      </div>
      {token.state === 'USABLE' && (
        <Button look="danger" blockedReason={token.revokeBlockedReason} onClick={onRevoke}>
          {t('tokens.revoke')}
        </Button>
      )}
    </li>
  )
}

type Props = { query: ReturnType<typeof useQueryState>; action: ReactNode; made: number }

/** Tokens with which agents may register, and what became of those before. `made` counts those made here: each is a reason to look again. */
export function TokenList({ query, action, made }: Props) {
  const isOver = query.get('tokens') === 'all'
  const list = useConnection('enrolment-tokens', EnrolmentTokensQuery, { isOver }, (data) => data.agentEnrolmentTokens)
  const revoke = useVerb(RevokeEnrolmentToken)
  const [revoking, setRevoking] = useState<EnrolmentToken | null>(null)
  const { reload } = list
  useEffect(() => {
    if (made > 0) void reload()
  }, [made, reload])
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('enrolmentToken.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  return (
    <>
      <div className="flex flex-wrap gap-2 pb-3">
        <FilterSelect label={t('alerts.state')} value={isOver ? 'all' : ''} onChange={(value) => query.set({ tokens: value })}>
          <option value="">{t('enrolmentToken.onlyUsable')}</option>
          <option value="all">{t('enrolmentToken.all')}</option>
        </FilterSelect>
      </div>
      {list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={3} height={60} />
        </div>
      ) : list.rows.length === 0 ? (
        <Empty icon={<KeyRound aria-hidden />} title={t('enrolmentToken.emptyTitle')} action={action}>
          <p>{t('enrolmentToken.emptyText')}</p>
        </Empty>
      ) : (
        <ul className="rounded-lg border border-line bg-panel">
          {list.rows.map((token) => (
            <TokenItem key={token.id} token={token} onRevoke={() => setRevoking(token)} />
          ))}
        </ul>
      )}
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.more')}</Button>
        </div>
      )}
      {revoking && (
        <Confirm
          title={t('tokens.revokeTitle', { name: t('tokens.prefix', { prefix: revoking.prefix }) })}
          action={t('tokens.revoke')}
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            const outcome = await revoke.run({ id: revoking.id })
            // Also when it was used meanwhile, which the list should say.
            void list.reload()
            return outcome
          }}
        >
          <p>{t('enrolmentToken.revokeText')}</p>
        </Confirm>
      )}
    </>
  )
}
