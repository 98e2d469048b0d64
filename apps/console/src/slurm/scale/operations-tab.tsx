'use client'
import { Workflow } from 'lucide-react'
import { useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'
import { type OperationRow, OperationsQuery } from './documents.ts'
import { OperationProgress, operationTones } from './operation-progress.tsx'

const HEIGHT = 60
const emptyPage = { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, totalCount: 0 }

/** The operations on a cluster, newest first, with the progress of each. */
export function OperationsTab({ clusterId }: { clusterId: string }) {
  const [open, setOpen] = useState<OperationRow | null>(null)
  const list = useConnection(
    'slurm-operations',
    OperationsQuery,
    { id: clusterId },
    (data) => data.slurmCluster?.operations ?? emptyPage,
  )
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('slurmScale.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading) return <SkeletonRows rows={6} height={HEIGHT} />
  if (list.rows.length === 0)
    return (
      <Empty icon={<Workflow aria-hidden />} title={t('slurmScale.emptyTitle')}>
        <p>{t('slurmScale.emptyText')}</p>
      </Empty>
    )
  return (
    <div className="rounded-lg border border-line bg-panel">
      <VirtualList
        label={t('slurmScale.operations')}
        rows={list.rows}
        rowHeight={HEIGHT}
        renderRow={(operation) => <OperationLine operation={operation} onOpen={() => setOpen(operation)} />}
        onNearEnd={list.more}
        hasMore={list.hasMore}
      />
      {open && (
        <Dialog wide title={t(`slurmOperationKind.${open.kind}`)} onClose={() => setOpen(null)}>
          <OperationProgress id={open.id} onClose={() => setOpen(null)} onDone={() => void list.reload()} />
        </Dialog>
      )}
    </div>
  )
}

function OperationLine({ operation, onOpen }: { operation: OperationRow; onOpen: () => void }) {
  const { kind, status, reason, nodeCount, createdAt, createdBy, finishedAt } = operation
  return (
    <div className="relative flex h-full flex-col justify-center gap-1 border-b border-line px-4 text-sm hover:bg-hover">
      <div className="flex items-center gap-3">
        <button
          type="button"
          onClick={onOpen}
          className="min-w-0 truncate text-left font-medium after:absolute after:inset-0 hover:underline"
        >
          {t(`slurmOperationKind.${kind}`)}: {t('slurm.nodeCount', { count: nodeCount })}
        </button>
        <span className="ml-auto shrink-0">
          <State tone={operationTones[status]} busy={!finishedAt}>
            {t(`slurmOperationStatus.${status}`)}
          </State>
        </span>
      </div>
      <p className="flex gap-3 text-xs text-muted">
        <span className="min-w-0 truncate">{reason}</span>
        <span className="ml-auto shrink-0">
          {createdBy.name} · <RelativeTime at={createdAt} />
        </span>
      </p>
    </div>
  )
}
