'use client'
import { KeySquare, Plus } from 'lucide-react'
import { useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useVerb } from '@/graphql/use-verb.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { CreateTokenDialog } from '@/tokens/create-dialog.tsx'
import { type ApiToken, ApiTokensQuery, RevokeApiToken } from '@/tokens/documents.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { PageHead } from '@/ui/page.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { Ago, useNow } from '@/ui/time.tsx'
import { useTitle } from '@/ui/use-title.ts'

function TokenItem({ token, onRevoke }: { token: ApiToken; onRevoke: () => void }) {
  const now = useNow()
  const isExpired = token.expiresAt !== null && new Date(token.expiresAt).getTime() < now
  const isOver = token.revokedAt !== null || isExpired
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="min-w-0 flex-1 basis-56">
        <div className="flex flex-wrap items-center gap-2">
          <span className={isOver ? 'text-muted line-through' : 'font-medium'}>{token.name}</span>
          <Badge>{t(`role.${token.role}`)}</Badge>
          {token.revokedAt ? (
            <Badge tone="bad">{t('tokens.revoked')}</Badge>
          ) : (
            isExpired && <Badge tone="warn">{t('tokens.expired')}</Badge>
          )}
        </div>
        <code className="font-mono text-xs text-muted">{t('tokens.prefix', { prefix: token.prefix })}</code>
      </div>
      <div className="flex flex-wrap gap-x-4 text-xs text-muted">
        <span>
          {t('tokens.created')} <Ago at={token.createdAt} />
        </span>
        <span>
          {t('credential.lastUsed')} <Ago at={token.lastUsedAt} never={t('common.never')} />
        </span>
        <span>{token.expiresAt ? t('tokens.until', { when: formatDateTime(token.expiresAt) }) : t('tokens.neverExpires')}</span>
      </div>
      <Button look="danger" blockedReason={isOver ? t('tokens.alreadyOver') : null} onClick={onRevoke}>
        {t('tokens.revoke')}
      </Button>
    </li>
  )
}

/** API tokens for tools and scripts. */
export default function TokensPage() {
  useTitle(t('nav.tokens'))
  const list = useConnection('tokens', ApiTokensQuery, {}, (data) => data.apiTokens)
  const revoke = useVerb(RevokeApiToken)
  const [isMaking, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<ApiToken | null>(null)
  const add = (
    <Button look="primary" icon={<Plus aria-hidden />} onClick={() => setMaking(true)}>
      {t('tokens.new')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('nav.tokens')} below={<p className="text-sm text-muted">{t('tokens.lead')}</p>}>
        {add}
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('tokens.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={3} height={60} />
        </div>
      ) : list.rows.length === 0 ? (
        <Empty icon={<KeySquare aria-hidden />} title={t('tokens.emptyTitle')} action={add}>
          <p>{t('tokens.emptyText')}</p>
        </Empty>
      ) : (
        <>
          <ul className="rounded-lg border border-line bg-panel">
            {list.rows.map((token) => (
              <TokenItem key={token.id} token={token} onRevoke={() => setRevoking(token)} />
            ))}
          </ul>
          {list.hasMore && (
            <div className="flex justify-center pt-4">
              <Button onClick={list.more}>{t('common.more')}</Button>
            </div>
          )}
        </>
      )}
      {isMaking && <CreateTokenDialog onClose={() => setMaking(false)} onCreated={() => void list.reload()} />}
      {revoking && (
        <Confirm
          title={t('tokens.revokeTitle', { name: revoking.name })}
          action={t('tokens.revoke')}
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            const outcome = await revoke.run({ id: revoking.id })
            if (outcome.ok) void list.reload()
            return outcome
          }}
        >
          <p>{t('tokens.revokeText')}</p>
        </Confirm>
      )}
    </>
  )
}
