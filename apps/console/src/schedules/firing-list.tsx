'use client'
import { Clock } from 'lucide-react'
import Link from 'next/link'
import { useEffect } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { t } from '@/messages/index.ts'
import { RunStatus } from '@/runs/badges.tsx'
import { runHref } from '@/runs/run-line.tsx'
import { State } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { type Firing, FiringsQuery } from './documents.ts'
import { formatInZone } from './next-times.tsx'

const NONE = { edges: [], pageInfo: { hasNextPage: false, endCursor: null } }
const tones = { STARTED: 'ok', SKIPPED: 'neutral', FAILED: 'bad' } as const

/** The result of a due time: the status of its run, or why there is none. */
export function FiringResult({ firing: { outcome, reason, run, message } }: { firing: Firing }) {
  if (run)
    return (
      <Link href={runHref(run.id)} className="inline-flex items-center gap-2 hover:underline">
        <RunStatus status={run.status} reason={run.statusReason} />
        <span className="text-xs text-muted tabular-nums">{t('runs.number', { number: String(run.number) })}</span>
      </Link>
    )
  return (
    <State tone={tones[outcome]} title={message ?? undefined}>
      {reason ? t(`firingReason.${reason}`) : t(`firingOutcome.${outcome}`)}
    </State>
  )
}

/** What each past time started, newest first. `latest` changes with each new one. */
export function FiringList({ id, timeZone, latest }: { id: string; timeZone: string; latest: string | undefined }) {
  const list = useConnection(`firings`, FiringsQuery, { id }, ({ node }) =>
    node?.__typename === 'Schedule' ? node.firings : NONE,
  )
  const { reloadDebounced } = list
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new result is a new row
  useEffect(() => reloadDebounced(), [reloadDebounced, latest])
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('schedule.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading) return <SkeletonRows rows={4} height={44} />
  if (list.rows.length === 0)
    return (
      <Empty icon={<Clock aria-hidden />} title={t('schedule.noHistory')}>
        <p>{t('schedule.noHistoryText')}</p>
      </Empty>
    )
  return (
    <>
      <ul className="rounded-lg border border-line bg-panel" aria-label={t('schedule.history')}>
        {list.rows.map((firing) => (
          <li key={firing.id} className="flex flex-col gap-1 border-line px-4 py-2.5 text-sm not-first:border-t">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
              <time dateTime={firing.dueAt} className="min-w-52 tabular-nums">
                {formatInZone(firing.dueAt, timeZone)}
              </time>
              <FiringResult firing={firing} />
              <span className="ml-auto flex flex-wrap gap-x-3 text-xs text-muted">
                {firing.firedBy && <span>{t('schedule.startedBy', { name: firing.firedBy.name })}</span>}
                {firing.discoveryCount > 0 && <span>{t('schedule.discoveries', { count: firing.discoveryCount })}</span>}
                {firing.missedCount > 0 && <span>{t('schedule.missed', { count: firing.missedCount })}</span>}
              </span>
            </div>
            {firing.message && <p className="text-xs text-muted wrap-anywhere">{firing.message}</p>}
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
    </>
  )
}
