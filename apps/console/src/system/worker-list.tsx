import { useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Failure } from '@/ui/failure.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { DrainWorker, UndrainWorker, type Worker, WorkersQuery } from './documents.ts'
import { usePolling } from './use-polling.ts'

type Action = 'drain' | 'undrain'

const isDraining = ({ drainedAt, runningCount, isGone }: Worker) => drainedAt !== null && runningCount > 0 && !isGone

function StateBadge({ worker }: { worker: Worker }) {
  if (worker.isGone) return <Badge tone="bad">{t('workers.gone')}</Badge>
  if (isDraining(worker)) return <Badge tone="warn">{t('workers.draining')}</Badge>
  return worker.drainedAt ? <Badge tone="warn">{t('workers.drained')}</Badge> : <Badge tone="ok">{t('workers.ready')}</Badge>
}

function WorkerItem({ worker, onAsk }: { worker: Worker; onAsk: (action: Action) => void }) {
  const { name, version, isolation, isolationWeakness, concurrency, runningCount, drainedAt, drainedBy } = worker
  const action = drainedAt ? 'undrain' : 'drain'
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="flex min-w-0 flex-1 basis-72 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-mono text-xs font-medium break-all">{name}</span>
          <StateBadge worker={worker} />
        </div>
        <div className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
          <span>{t('workers.runs', { running: formatNumber(runningCount), capacity: formatNumber(concurrency) })}</span>
          <span>{t.rich('workers.started', { time: () => <RelativeTime at={worker.startedAt} /> })}</span>
          <span>{t.rich('workers.lastSeen', { time: () => <RelativeTime at={worker.lastSeenAt} /> })}</span>
          <span>{t('workers.version', { version })}</span>
          <span>{t(`workers.isolation.${isolation}`)}</span>
          {drainedAt && drainedBy && (
            <span>{t.rich('workers.drainedBy', { name: drainedBy.name, time: () => <RelativeTime at={drainedAt} /> })}</span>
          )}
        </div>
        {isolationWeakness && <p className="text-xs break-words text-warn">{isolationWeakness}</p>}
      </div>
      <Button
        label={t(`workers.${action}Name`, { name })}
        blockedReason={worker[`${action}BlockedReason`]}
        onClick={() => onAsk(action)}
      >
        {t(`workers.${action}`)}
      </Button>
    </li>
  )
}

/** Workers of the installation; drains and undrains them. */
export function WorkerList() {
  const list = useConnection('workers', WorkersQuery, {}, (data) => data.workers)
  const run = { drain: useMutation(DrainWorker), undrain: useMutation(UndrainWorker) }
  const [asking, setAsking] = useState<{ action: Action; worker: Worker } | null>(null)
  const reload = () => void list.reload()
  usePolling(list.rows.some(isDraining), reload)
  return (
    <section aria-labelledby="workers" className="flex flex-col gap-3 pt-8">
      <h2 id="workers" className="text-base font-semibold">
        {t('workers.title')}
      </h2>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('workers.loadFailed')} message={list.problem.message} onRetry={reload} />
      ) : list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={2} height={60} />
        </div>
      ) : list.rows.length === 0 ? (
        <p className="text-sm text-muted">{t('workers.empty')}</p>
      ) : (
        <ul className="rounded-lg border border-line bg-panel">
          {list.rows.map((worker) => (
            <WorkerItem key={worker.id} worker={worker} onAsk={(action) => setAsking({ action, worker })} />
          ))}
        </ul>
      )}
      {list.hasMore && (
        <div className="flex justify-center">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
      {asking && (
        <Confirm
          title={t(`workers.${asking.action}Title`, { name: asking.worker.name })}
          action={t(`workers.${asking.action}`)}
          onClose={() => setAsking(null)}
          onConfirm={async () => {
            const outcome = await run[asking.action].run({ id: asking.worker.id })
            reload()
            return outcome
          }}
        >
          <p>{t(`workers.${asking.action}Text`)}</p>
        </Confirm>
      )}
    </section>
  )
}
