import { formatNumber, t } from '@/messages/index.ts'
import { nodeTone } from '@/slurm/badges.tsx'
import type { NodeRow } from '@/slurm/cluster-documents.ts'
import { Badge, State } from '@/ui/badge.tsx'
import { RowCheckbox } from './row-checkbox.tsx'

export const nodeColumns =
  'grid grid-cols-[16px_minmax(110px,1fr)_130px_minmax(90px,1fr)_110px_100px_130px_minmax(100px,1.5fr)] items-center gap-x-4 px-4 [&>*]:min-w-0'

const use = (used: number, total: number): string =>
  total > 0 ? t('slurm.allocated', { used: formatNumber(used), total: formatNumber(total) }) : t('common.none')

type Props = {
  node: NodeRow
  isNarrow: boolean
  isSelected: boolean
  onSelect: (isRange: boolean) => void
  onOpen: () => void
}

/** One node of a cluster: a row, or a card on a phone. */
export function NodeLine({ node, isNarrow, isSelected, onSelect, onOpen }: Props) {
  const checkbox = <RowCheckbox name={node.name} isSelected={isSelected} onSelect={onSelect} />
  const name = (
    <button
      type="button"
      onClick={onOpen}
      className="truncate text-left font-mono text-sm font-medium after:absolute after:inset-0 hover:underline"
    >
      {node.name}
    </button>
  )
  const state = (
    <State tone={nodeTone(node.state)} title={node.states.join('+')}>
      <span className="font-mono text-xs">{node.state}</span>
    </State>
  )
  const inventory =
    node.match === 'CONFLICT' ? (
      <Badge tone="warn">{t('slurmNode.conflict')}</Badge>
    ) : (
      <span className="truncate text-xs text-muted">{node.node?.name ?? t('slurmNode.matchNone')}</span>
    )
  if (isNarrow)
    return (
      <div className="relative flex h-full flex-col justify-center gap-1 border-b border-line px-3">
        <div className="flex items-center justify-between gap-2">
          <span className="flex min-w-0 items-center gap-2">
            {checkbox}
            {name}
          </span>
          {state}
        </div>
        <div className="flex items-center justify-between gap-2 text-xs text-muted">
          <span className="shrink-0 tabular-nums">
            {t('slurm.cpus')} {use(node.allocatedCpus, node.cpus)}
          </span>
          {inventory}
        </div>
      </div>
    )
  return (
    <div className={`${nodeColumns} relative h-full border-b border-line text-sm hover:bg-hover`}>
      {checkbox}
      {name}
      {state}
      <span className="truncate text-xs text-muted">{node.partitions.join(', ')}</span>
      <span className="text-xs tabular-nums">{use(node.allocatedCpus, node.cpus)}</span>
      <span className="text-xs tabular-nums">{use(node.allocatedGpus, node.gpus)}</span>
      {inventory}
      <span className="truncate text-xs text-muted" title={node.reason ?? undefined}>
        {node.reason}
      </span>
    </div>
  )
}
