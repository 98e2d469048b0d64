'use client'
import Link from 'next/link'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { RunStatus } from '@/runs/badges.tsx'
import { runHref } from '@/runs/run-line.tsx'
import { State } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Failure } from '@/ui/failure.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { DeliveriesQuery, type Delivery, type Trigger } from './documents.ts'

const NONE = { edges: [], pageInfo: { hasNextPage: false, endCursor: null } }

/** The result of a request: the status of its run, or that there is none. */
export function DeliveryResult({ delivery: { outcome, run, message } }: { delivery: Delivery }) {
  if (!run)
    return (
      <State tone={outcome === 'STARTED' ? 'ok' : 'bad'} title={message ?? undefined}>
        {t(`firingOutcome.${outcome}`)}
      </State>
    )
  return (
    <Link href={runHref(run.id)} className="inline-flex items-center gap-2 hover:underline">
      <RunStatus status={run.status} reason={run.statusReason} />
      <span className="text-xs text-muted tabular-nums">{t('runs.number', { number: String(run.number) })}</span>
    </Link>
  )
}

/** The requests to a trigger, newest first. */
export function DeliveryDialog({ trigger: { id, name }, onClose }: { trigger: Trigger; onClose: () => void }) {
  const list = useConnection('trigger-deliveries', DeliveriesQuery, { id }, ({ node }) =>
    node?.__typename === 'Trigger' ? node.deliveries : NONE,
  )
  return (
    <Dialog wide title={t('trigger.historyTitle', { name })} onClose={onClose}>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('trigger.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : list.isLoading ? (
        <SkeletonRows rows={4} height={44} />
      ) : list.rows.length === 0 ? (
        <p className="text-sm text-muted">{t('trigger.noRequests')}</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line" aria-label={t('trigger.history')}>
          {list.rows.map((delivery) => (
            <li key={delivery.id} className="flex flex-col gap-1 py-2 text-sm">
              <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
                <DeliveryResult delivery={delivery} />
                <span className="ml-auto text-xs text-muted">
                  {delivery.address && <span className="font-mono">{delivery.address}</span>}{' '}
                  {delivery.repeatCount > 0 && <>· {t('trigger.repeats', { count: delivery.repeatCount })} </>}·{' '}
                  <RelativeTime at={delivery.receivedAt} />
                </span>
              </div>
              {delivery.message && <p className="text-xs text-muted wrap-anywhere">{delivery.message}</p>}
            </li>
          ))}
        </ul>
      )}
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
    </Dialog>
  )
}
