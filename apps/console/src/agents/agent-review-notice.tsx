'use client'
import { useQuery } from 'urql'
import { useReconnect } from '@/graphql/use-live.ts'
import { t } from '@/messages/index.ts'
import { ButtonLink } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { WaitingAgentsQuery } from './key-documents.ts'

/** A notice about agents whose key or hardware changed; nothing when there are none. */
export function AgentReviewNotice() {
  const [{ data }, read] = useQuery({ query: WaitingAgentsQuery, requestPolicy: 'cache-and-network' })
  useReconnect(() => read({ requestPolicy: 'network-only' }))
  const count = data?.nodes.totalCount ?? 0
  const [first] = data?.nodes.edges ?? []
  if (count === 0 || !first) return null
  const href = count === 1 ? `/nodes/${encodeURIComponent(first.node.id)}?tab=agent` : '/nodes?agentAlarm=1'
  return (
    <div className="pb-3">
      <Notice tone="warn" action={<ButtonLink href={href}>{t('fleet.review')}</ButtonLink>}>
        {t('fleet.waiting', { count })}
      </Notice>
    </div>
  )
}
