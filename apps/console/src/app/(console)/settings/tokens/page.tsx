'use client'
import { KeySquare, Plus } from 'lucide-react'
import { useState } from 'react'
import { CreateTokenDialog } from '@/access/create-token-dialog.tsx'
import { roleLabel } from '@/access/roles.ts'
import { type ApiToken, ApiTokensQuery, RevokeApiToken } from '@/access/token-documents.ts'
import { TokenLine, TokenList } from '@/access/token-list.tsx'
import { useBlockedReason, useViewer } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { formatDateTime, formatList } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime, useNow } from '@/ui/relative-time.tsx'

function TokenItem({ token, onRevoke }: { token: ApiToken; onRevoke: () => void }) {
  const now = useNow()
  const { user } = useViewer()
  const isExpired = new Date(token.expiresAt).getTime() < now
  const isInactive = token.revokedAt !== null || isExpired
  return (
    <TokenLine blockedReason={token.revokeBlockedReason} onRevoke={isInactive ? null : onRevoke}>
      <div className="min-w-0 flex-1 basis-56">
        <div className="flex flex-wrap items-center gap-2">
          <span className={isInactive ? 'text-muted line-through' : 'font-medium'}>{token.name}</span>
          <Badge>{roleLabel(token.role)}</Badge>
          {token.revokedAt ? (
            <Badge tone="bad">{t('tokens.revoked')}</Badge>
          ) : (
            isExpired && <Badge tone="warn">{t('tokens.expired')}</Badge>
          )}
        </div>
        <code className="font-mono text-xs text-muted">{t('tokens.prefix', { prefix: token.prefix })}</code>
        {token.owner.id !== user?.id && (
          <p className="text-xs break-words text-muted">{t('tokens.ownedBy', { name: token.owner.name })}</p>
        )}
        {token.permissions && (
          <p className="text-xs break-words text-muted">{t('tokens.permissions', { names: token.permissions.join(', ') })}</p>
        )}
        {token.isLimitedToGroups && (
          <p className="text-xs break-words text-muted">
            {token.nodeGroups.length > 0
              ? t('tokens.groups', { names: formatList(token.nodeGroups.map(({ name }) => name)) })
              : t('tokens.noGroupLeft')}
          </p>
        )}
        {token.networks.length > 0 && (
          <p className="text-xs break-words text-muted">{t('tokens.networksOf', { names: token.networks.join(', ') })}</p>
        )}
      </div>
      <div className="flex flex-wrap gap-x-4 text-xs text-muted">
        <span>{t.rich('tokens.created', { time: () => <RelativeTime at={token.createdAt} /> })}</span>
        <span>
          {token.lastUsedAt
            ? t.rich('credential.lastUsed', { time: () => <RelativeTime at={token.lastUsedAt} /> })
            : t('credential.neverUsed')}
        </span>
        <span>{t('tokens.until', { when: formatDateTime(token.expiresAt) })}</span>
      </div>
    </TokenLine>
  )
}

/** API tokens of the user and of others in the tenant. */
export default function TokensPage() {
  useTitle(t('nav.tokens'))
  const list = useConnection('tokens', ApiTokensQuery, {}, (data) => data.apiTokens)
  const blocked = useBlockedReason('token:write')
  const [isMaking, setMaking] = useState(false)
  const add = (
    <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={blocked} onClick={() => setMaking(true)}>
      {t('tokens.new')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('nav.tokens')} below={<p className="text-sm text-muted">{t('tokens.lead')}</p>}>
        {add}
      </PageHead>
      <TokenList
        list={list}
        row={(token, onRevoke) => <TokenItem key={token.id} token={token} onRevoke={onRevoke} />}
        nameOf={({ name }) => name}
        revoke={RevokeApiToken}
        revokeText={t('tokens.revokeText')}
        loadFailed={t('tokens.loadFailed')}
        empty={
          <Empty icon={<KeySquare aria-hidden />} title={t('tokens.emptyTitle')} action={add}>
            <p>{t('tokens.emptyText')}</p>
          </Empty>
        }
      />
      {isMaking && <CreateTokenDialog onClose={() => setMaking(false)} onCreated={() => void list.reload()} />}
    </>
  )
}
