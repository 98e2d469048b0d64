'use client'
import { KeyRound } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { TokenLine, TokenList } from '@/tokens/token-list.tsx'
import { Badge, type Tone } from '@/ui/badge.tsx'
import { Empty } from '@/ui/empty.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
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
    <TokenLine blockedReason={token.revokeBlockedReason} onRevoke={token.state === 'USABLE' ? onRevoke : null}>
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
    </TokenLine>
  )
}

type Props = { query: ReturnType<typeof useQueryState>; action: ReactNode; made: number }

/** Tokens with which agents may register, and what became of those before. `made` counts those made here: each is a reason to look again. */
export function EnrolmentTokens({ query, action, made }: Props) {
  const isOver = query.get('tokens') === 'all'
  const list = useConnection('enrolment-tokens', EnrolmentTokensQuery, { isOver }, (data) => data.agentEnrolmentTokens)
  const { reload } = list
  useEffect(() => {
    if (made > 0) void reload()
  }, [made, reload])
  return (
    <>
      <div className="flex flex-wrap gap-2 pb-3">
        <FilterSelect label={t('alerts.state')} value={isOver ? 'all' : ''} onChange={(value) => query.set({ tokens: value })}>
          <option value="">{t('enrolmentToken.onlyUsable')}</option>
          <option value="all">{t('enrolmentToken.all')}</option>
        </FilterSelect>
      </div>
      <TokenList
        list={list}
        row={(token, onRevoke) => <TokenItem key={token.id} token={token} onRevoke={onRevoke} />}
        nameOf={({ prefix }) => t('tokens.prefix', { prefix })}
        revoke={RevokeEnrolmentToken}
        revokeText={t('enrolmentToken.revokeText')}
        empty={
          <Empty icon={<KeyRound aria-hidden />} title={t('enrolmentToken.emptyTitle')} action={action}>
            <p>{t('enrolmentToken.emptyText')}</p>
          </Empty>
        }
      />
    </>
  )
}
