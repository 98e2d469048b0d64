'use client'
import clsx from 'clsx'
import Link from 'next/link'
import { AgentState, agentTones } from '@/agents/badges.tsx'
import { formatBytes } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { AcceleratorBadges, formatAddress, formatOs, NodeHealth, NodeStatus } from './badges.tsx'
import type { NodeRow } from './documents.ts'

export const lineHeight = 40
export const cardHeight = 76
/** Columns of the wide list and its header. Narrower windows hide columns from the right. */
export const columns =
  'grid grid-cols-[28px_minmax(120px,1.2fr)_112px_116px_minmax(130px,1.5fr)_76px] xl:grid-cols-[28px_minmax(110px,1.1fr)_112px_116px_88px_minmax(90px,0.9fr)_minmax(140px,1.7fr)_minmax(60px,0.6fr)_72px] 2xl:grid-cols-[28px_minmax(130px,1.2fr)_112px_116px_100px_minmax(100px,1fr)_minmax(150px,1.6fr)_minmax(90px,0.9fr)_112px_minmax(60px,0.8fr)_76px] items-center gap-x-4 px-4'

export function nodeHref(id: string): string {
  return `/nodes/${encodeURIComponent(id)}`
}

type Props = { node: NodeRow; isSelected: boolean; onSelect: (isRange: boolean) => void; isNarrow: boolean }

/** One node of the list: a row on a wide screen, a card on a phone. All of it links to the node. */
export function NodeLine({ node, isSelected, onSelect, isNarrow }: Props) {
  const checkbox = (
    <input
      type="checkbox"
      checked={isSelected}
      aria-label={t('nodes.select', { name: node.name })}
      onChange={() => {}}
      onClick={(event) => onSelect(event.shiftKey)}
      className="relative z-10 size-4 accent-accent"
    />
  )
  const name = (
    <Link
      href={nodeHref(node.id)}
      className="truncate font-mono text-sm font-medium after:absolute after:inset-0 hover:underline"
    >
      {node.name}
    </Link>
  )
  if (isNarrow) {
    return (
      <div className={clsx('relative flex h-full gap-3 border-b border-line px-3 py-2', isSelected && 'bg-accent-soft')}>
        <div className="flex items-center">{checkbox}</div>
        <div className="flex min-w-0 flex-1 flex-col justify-center gap-1.5">
          <div className="flex items-center justify-between gap-2">
            {name}
            <span className="flex items-center gap-2">
              <NodeHealth health={node.health} />
              <NodeStatus node={node} />
            </span>
          </div>
          <div className="flex items-center justify-between gap-2">
            <span className="min-w-0 flex-1">
              {node.acceleratorSummary.length > 0 ? (
                <AcceleratorBadges summary={node.acceleratorSummary} />
              ) : (
                <span className="truncate font-mono text-xs text-muted">{formatAddress(node.host, node.port)}</span>
              )}
            </span>
            {/* A phone shows only abnormal states. */}
            {node.agent && node.agent.state !== 'ACTIVE' && (
              <Badge tone={agentTones[node.agent.state]}>
                {t('nodes.agentState', { state: t(`agentState.${node.agent.state}`) })}
              </Badge>
            )}
            <span className="text-xs text-muted">
              <RelativeTime at={node.lastSeenAt} never={t('nodes.neverSeen')} />
            </span>
          </div>
        </div>
      </div>
    )
  }
  return (
    <div
      className={clsx(columns, 'relative h-full border-b border-line text-sm', isSelected ? 'bg-accent-soft' : 'hover:bg-hover')}
    >
      {checkbox}
      <span className="flex min-w-0 items-baseline gap-2">
        {name}
        {node.displayName && <span className="truncate text-xs text-muted">{node.displayName}</span>}
      </span>
      <NodeHealth health={node.health} />
      <NodeStatus node={node} />
      <span className="hidden truncate xl:block">
        {node.agent ? <AgentState state={node.agent.state} /> : <span className="text-faint">{t('common.none')}</span>}
      </span>
      <span className="hidden truncate font-mono text-xs text-muted xl:block">{formatAddress(node.host, node.port)}</span>
      {node.acceleratorSummary.length > 0 ? (
        <AcceleratorBadges summary={node.acceleratorSummary} />
      ) : (
        <span className="text-faint">{t('common.none')}</span>
      )}
      <span className="hidden truncate text-muted 2xl:block" title={formatOs(node)}>
        {node.os?.distribution ? `${node.os.distribution} ${node.os.version ?? ''}` : formatOs(node)}
      </span>
      <span className="hidden truncate text-muted tabular-nums 2xl:block">
        {node.cpu?.threads
          ? t('nodes.size', { threads: node.cpu.threads, memory: formatBytes(node.memoryBytes) })
          : t('common.none')}
      </span>
      <span className="hidden min-w-0 gap-1 overflow-hidden xl:flex">
        {node.tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
      </span>
      <span className="text-right text-xs text-muted">
        <RelativeTime at={node.lastSeenAt} never={t('nodes.neverSeen')} />
      </span>
    </div>
  )
}
