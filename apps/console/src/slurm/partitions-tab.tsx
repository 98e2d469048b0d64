'use client'
import { Rows3 } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatDuration } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Badge, State } from '@/ui/badge.tsx'
import { Empty } from '@/ui/empty.tsx'
import { ActionMenu } from './actions/action-menu.tsx'
import { nodeTone, partitionTone } from './badges.tsx'
import type { PartitionRow } from './cluster-documents.ts'
import { UseBar } from './use-bar.tsx'

/** The partitions of a cluster with their use. */
export function PartitionsTab({
  clusterId,
  partitions,
  onOpen,
  onChanged,
}: {
  clusterId: string
  partitions: readonly PartitionRow[]
  onOpen: (name: string) => void
  onChanged: () => void
}) {
  if (partitions.length === 0)
    return (
      <Empty icon={<Rows3 aria-hidden />} title={t('slurmPartition.emptyTitle')}>
        <p>{t('slurmPartition.emptyText')}</p>
      </Empty>
    )
  return (
    <ul className="grid gap-4 md:grid-cols-2 xl:grid-cols-3" aria-label={t('slurm.partitions')}>
      {partitions.map((partition) => (
        <PartitionCard
          key={partition.id}
          partition={partition}
          onOpen={() => onOpen(partition.name)}
          actions={
            <ActionMenu
              clusterId={clusterId}
              targets={{ kind: 'partitions', names: [partition.name] }}
              permissions={partition.actionPermissions}
              onDone={onChanged}
            />
          }
        />
      ))}
    </ul>
  )
}

function PartitionCard({ partition, onOpen, actions }: { partition: PartitionRow; onOpen: () => void; actions: ReactNode }) {
  const sum = (of: 'cpus' | 'allocatedCpus' | 'gpus' | 'allocatedGpus') =>
    partition.nodesByState.reduce((all, one) => all + one[of], 0)
  const allowed = [...partition.allowGroups, ...partition.allowAccounts, ...partition.allowQos]
  return (
    <li className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4">
      <div className="flex flex-wrap items-center gap-2">
        <button type="button" onClick={onOpen} className="min-w-0 truncate font-mono text-sm font-semibold hover:underline">
          {partition.name}
        </button>
        {partition.isDefault && <Badge tone="accent">{t('slurmPartition.default')}</Badge>}
        {partition.isHidden && <Badge>{t('slurmPartition.hidden')}</Badge>}
        <span className="ml-auto">
          <State tone={partitionTone(partition.state)}>
            <span className="font-mono text-xs">{partition.state}</span>
          </State>
        </span>
      </div>
      <div className="grid grid-cols-2 gap-4">
        <UseBar label={t('slurm.cpus')} used={sum('allocatedCpus')} total={sum('cpus')} />
        <UseBar label={t('slurm.gpus')} used={sum('allocatedGpus')} total={sum('gpus')} none={t('slurm.noGpus')} />
      </div>
      <div className="flex flex-wrap gap-x-3 gap-y-1 text-xs">
        {partition.nodesByState.map(({ state, nodes }) => (
          <State key={state} tone={nodeTone(state)}>
            <span className="font-mono text-xs">
              {formatNumber(nodes)} {state}
            </span>
          </State>
        ))}
      </div>
      <p className="truncate font-mono text-xs text-muted" title={partition.nodeList}>
        {partition.nodeList}
      </p>
      <p className="flex flex-wrap justify-between gap-2 text-xs text-muted">
        <span>
          {t('slurmPartition.maxTime')}{' '}
          {partition.maxTimeMinutes === null ? t('slurmPartition.unlimited') : formatDuration(partition.maxTimeMinutes * 60_000)}
        </span>
        <span className="min-w-0 truncate">{allowed.length > 0 ? allowed.join(', ') : t('slurmPartition.everyone')}</span>
      </p>
      <div className="mt-auto flex justify-end">{actions}</div>
    </li>
  )
}
