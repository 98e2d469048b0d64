'use client'
import Link from 'next/link'
import { useConnection } from '@/graphql/use-connection.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { usePolling } from '@/system/use-polling.ts'
import { Button } from '@/ui/button.tsx'
import { Panel } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { StuckBootsQuery } from './documents.ts'

const POLL_MS = 10_000

/** Boots that do not progress, of the nodes of a group; hidden without any. */
export function StuckList({ group, profile }: { group: string | null; profile: string | null }) {
  const filter = {
    isOpen: true,
    kind: ['BOOT_STUCK' as const, 'BOOT_NO_FETCH' as const],
    ...(group ? { limit: `@${group}` } : {}),
  }
  const list = useConnection('stuck-boots', StuckBootsQuery, { filter }, (data) => data.alerts)
  usePolling(true, () => void list.reload(), POLL_MS)
  const rows = list.rows.flatMap(({ node }) => {
    const boot = node?.bootAttempts.edges[0]?.node
    return node && boot?.stuck && (!profile || boot.profile === profile) ? [{ node, boot, stuck: boot.stuck }] : []
  })
  if (rows.length === 0) return null
  return (
    <Panel title={t('bootDuration.stuckTitle', { count: formatNumber(rows.length) })}>
      <ul className="flex max-h-96 flex-col overflow-y-auto text-sm">
        {rows.map(({ node, boot, stuck }) => (
          <li key={node.id} className="flex flex-wrap items-baseline gap-x-4 border-t border-line py-1.5 first:border-t-0">
            <Link href={`/nodes/${encodeURIComponent(node.id)}?tab=boot`} className="font-medium hover:underline">
              {node.name}
            </Link>
            <span className="text-warn">
              {t.rich('boot.stuck', {
                stage: t(`bootStage.${stuck.stage}`),
                time: () => <RelativeTime at={stuck.since} />,
              })}
            </span>
            {boot.profile && (
              <span className="text-muted">{t('boot.profile', { name: boot.profile, version: boot.profileVersion ?? 0 })}</span>
            )}
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <Button className="mt-2" onClick={list.more}>
          {t('common.loadMore')}
        </Button>
      )}
    </Panel>
  )
}
