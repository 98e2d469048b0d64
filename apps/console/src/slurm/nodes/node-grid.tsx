'use client'
import clsx from 'clsx'
import { useEffect } from 'react'
import { formatNumber, t } from '@/messages/index.ts'
import { nodeTone } from '@/slurm/badges.tsx'
import type { NodeRow } from '@/slurm/cluster-documents.ts'
import type { Tone } from '@/ui/badge.tsx'

const colors: Record<Tone, string> = {
  neutral: 'bg-text/20',
  ok: 'bg-ok-dot/50',
  accent: 'bg-accent',
  warn: 'bg-warn-dot',
  bad: 'bg-bad-dot',
}

type Props = { nodes: NodeRow[]; total: number | null; hasMore: boolean; onMore: () => void; onOpen: (id: string) => void }

/** All nodes as cells that are colored by state. */
export function NodeGrid({ nodes, total, hasMore, onMore, onOpen }: Props) {
  // The grid shows a whole cluster; reads all its pages.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that arrives asks for the next one
  useEffect(() => {
    if (hasMore) onMore()
  }, [hasMore, onMore, nodes.length])
  const states = [...new Set(nodes.map(({ state }) => state))].sort()
  return (
    <div className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4">
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        <span aria-live="polite">
          {hasMore && total !== null
            ? t('slurmNode.gridLoading', { done: nodes.length, total })
            : t('slurmNode.allGrid', { count: nodes.length })}
        </span>
        {states.map((state) => (
          <span key={state} className="inline-flex items-center gap-1.5">
            <span className={clsx('size-2.5 rounded-xs', colors[nodeTone(state)])} aria-hidden />
            <span className="font-mono">{state}</span>
          </span>
        ))}
      </p>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(14px,1fr))] gap-1" aria-label={t('slurmNode.grid')}>
        {nodes.map((node) => {
          const text = t('slurmNode.cell', {
            name: node.name,
            state: node.state,
            used: formatNumber(node.allocatedCpus),
            total: formatNumber(node.cpus),
          })
          return (
            <li key={node.id}>
              <button
                type="button"
                aria-label={text}
                title={text}
                onClick={() => onOpen(node.id)}
                className={clsx('block aspect-square w-full rounded-xs', colors[nodeTone(node.state)])}
              />
            </li>
          )
        })}
      </ul>
    </div>
  )
}
