'use client'
import { History } from 'lucide-react'
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
import { ActionProgress, statusTones } from './action-progress.tsx'
import { type ActionRow, ActionsQuery } from './documents.ts'

const HEIGHT = 60

/** The actions on a cluster, newest first, with the results of each target. */
export function HistoryTab({ clusterId }: { clusterId: string }) {
  const [open, setOpen] = useState<ActionRow | null>(null)
  const list = useConnection('slurm-actions', ActionsQuery, { filter: { clusterId } }, (data) => data.slurmActions)
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('slurmAction.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading) return <SkeletonRows rows={6} height={HEIGHT} />
  if (list.rows.length === 0)
    return (
      <Empty icon={<History aria-hidden />} title={t('slurmAction.emptyTitle')}>
        <p>{t('slurmAction.emptyText')}</p>
      </Empty>
    )
  return (
    <div className="rounded-lg border border-line bg-panel">
      <VirtualList
        label={t('slurmAction.history')}
        rows={list.rows}
        rowHeight={HEIGHT}
        renderRow={(action) => <ActionLine action={action} onOpen={() => setOpen(action)} />}
        onNearEnd={list.more}
        hasMore={list.hasMore}
      />
      {open && (
        <Dialog wide title={t(`slurmVerb.${open.verb}`)} onClose={() => setOpen(null)}>
          <ActionProgress id={open.id} onClose={() => setOpen(null)} onDone={() => void list.reload()} />
        </Dialog>
      )}
    </div>
  )
}

function ActionLine({ action, onOpen }: { action: ActionRow; onOpen: () => void }) {
  return (
    <div className="relative flex h-full flex-col justify-center gap-1 border-b border-line px-4 text-sm hover:bg-hover">
      <div className="flex items-center gap-3">
        <button
          type="button"
          onClick={onOpen}
          className="min-w-0 truncate text-left font-medium after:absolute after:inset-0 hover:underline"
        >
          {t('slurmAction.start', { verb: t(`slurmVerb.${action.verb}`), count: action.targetCount })}
        </button>
        <span className="ml-auto shrink-0">
          <State tone={statusTones[action.status]} busy={!action.finishedAt}>
            {t(`slurmActionStatus.${action.status}`)}
          </State>
        </span>
      </div>
      <p className="flex gap-3 text-xs text-muted">
        <span className="min-w-0 truncate">{action.reason}</span>
        <span className="ml-auto shrink-0">
          {action.createdBy.name} · <RelativeTime at={action.createdAt} />
        </span>
      </p>
    </div>
  )
}
