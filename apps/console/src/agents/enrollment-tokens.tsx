'use client'
import { KeyRound } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { TokenLine, TokenList } from '@/access/token-list.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge, type Tone } from '@/ui/badge.tsx'
import { Empty } from '@/ui/empty.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { type EnrollmentToken, EnrollmentTokensQuery, RevokeEnrollmentToken } from './token-documents.ts'

const tones: Record<EnrollmentToken['state'], Tone> = { USABLE: 'accent', USED: 'ok', EXPIRED: 'neutral', REVOKED: 'bad' }

/** The outcome of a token, or its expiry. */
function tokenOutcome({ state, usedAt, usedByNode, usedFrom, revokedAt, revokedBy, expiresAt }: EnrollmentToken): string {
  if (state === 'USED')
    return t('enrollmentToken.usedBy', { name: usedByNode?.name ?? usedFrom ?? '', when: formatDateTime(usedAt ?? expiresAt) })
  if (state === 'REVOKED')
    return t('enrollmentToken.revokedBy', { name: revokedBy?.name ?? '', when: formatDateTime(revokedAt ?? expiresAt) })
  return t(state === 'EXPIRED' ? 'enrollmentToken.expiredAt' : 'enrollmentToken.until', { when: formatDateTime(expiresAt) })
}

function TokenItem({ token, onRevoke }: { token: EnrollmentToken; onRevoke: () => void }) {
  return (
    <TokenLine blockedReason={token.revokeBlockedReason} onRevoke={token.state === 'USABLE' ? onRevoke : null}>
      <div className="flex min-w-0 flex-1 basis-56 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-2">
          <code className="font-mono text-xs font-medium">{t('tokens.prefix', { prefix: token.prefix })}</code>
          <Badge tone={tones[token.state]}>{t(`enrollmentTokenState.${token.state}`)}</Badge>
          <span>{token.node ? t('enrollmentToken.for', { name: token.node.name }) : t('enrollmentToken.forAny')}</span>
        </div>
        {token.note && <p className="break-words whitespace-pre-line text-muted">{token.note}</p>}
        <p className="text-xs text-muted">
          {t.rich('enrollmentToken.createdBy', { name: token.createdBy.name, time: () => <RelativeTime at={token.createdAt} /> })}{' '}
          · {tokenOutcome(token)}
        </p>
      </div>
    </TokenLine>
  )
}

type Props = { query: ReturnType<typeof useQueryState>; action: ReactNode; createdCount: number }

/** Enrollment tokens. The list reloads when `createdCount` grows. */
export function EnrollmentTokens({ query, action, createdCount }: Props) {
  const includeEnded = query.get('tokens') === 'all'
  const list = useConnection('enrollment-tokens', EnrollmentTokensQuery, { includeEnded }, (data) => data.agentEnrollmentTokens)
  const { reload } = list
  useEffect(() => {
    if (createdCount > 0) void reload()
  }, [createdCount, reload])
  return (
    <>
      <div className="flex flex-wrap gap-2 pb-3">
        <FilterSelect
          label={t('enrollmentToken.state')}
          value={includeEnded ? 'all' : ''}
          onChange={(value) => query.set({ tokens: value })}
        >
          <option value="">{t('enrollmentToken.onlyUsable')}</option>
          <option value="all">{t('enrollmentToken.all')}</option>
        </FilterSelect>
      </div>
      <TokenList
        list={list}
        row={(token, onRevoke) => <TokenItem key={token.id} token={token} onRevoke={onRevoke} />}
        nameOf={({ prefix }) => t('tokens.prefix', { prefix })}
        revoke={RevokeEnrollmentToken}
        revokeText={t('enrollmentToken.revokeText')}
        loadFailed={t('tokens.loadFailed')}
        empty={
          <Empty icon={<KeyRound aria-hidden />} title={t('enrollmentToken.emptyTitle')} action={action}>
            <p>{t('enrollmentToken.emptyText')}</p>
          </Empty>
        }
      />
    </>
  )
}
