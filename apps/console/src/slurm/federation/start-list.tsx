import Link from 'next/link'
import { formatDateTime, formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { useNow } from '@/ui/relative-time.tsx'
import { clusterHref } from '../cluster-card.tsx'
import type { StartEstimate } from './documents.ts'

/** A job that starts within it starts now: the data is older than that. */
const NOW_MS = 60_000

/** Estimated starts: one entry per cluster, the earliest first, with its best partition and the others below it. */
export function StartList({ estimates, skipped }: { estimates: readonly StartEstimate[]; skipped: readonly string[] }) {
  const byCluster = [...Map.groupBy(estimates, ({ cluster }) => cluster.id).values()]
  return (
    <div className="flex flex-col gap-3">
      {byCluster.length === 0 ? (
        <p className="text-sm text-muted">{t('slurmOverview.noPartition')}</p>
      ) : (
        <ol className="rounded-lg border border-line" aria-label={t('slurmOverview.starts')}>
          {byCluster.map((list) => (
            <ClusterStarts key={list[0]!.cluster.id} estimates={list} />
          ))}
        </ol>
      )}
      {skipped.length > 0 && <p className="text-xs text-muted">{t('slurmOverview.skipped', { names: skipped.join(', ') })}</p>}
      <p className="text-xs text-muted">{t('slurmOverview.startText')}</p>
    </div>
  )
}

function ClusterStarts({ estimates }: { estimates: readonly StartEstimate[] }) {
  const [best, ...others] = estimates as [StartEstimate, ...StartEstimate[]]
  const { cluster } = best
  return (
    <li className="flex flex-col gap-1 border-b border-line px-3 py-2.5 last:border-0" data-testid="slurm-start">
      <div className="flex flex-wrap items-baseline gap-x-2">
        <Link href={clusterHref(cluster.id)} className="text-sm font-medium wrap-anywhere hover:underline">
          {cluster.name}
        </Link>
        {cluster.region && <span className="text-xs text-muted">{cluster.region}</span>}
      </div>
      <Start estimate={best} />
      {others.length > 0 && (
        <details className="text-sm">
          <summary className="cursor-pointer text-xs text-muted">
            {t('slurmOverview.otherPartitions', { count: others.length })}
          </summary>
          <ul className="flex flex-col gap-1 pt-1">
            {others.map((one) => (
              <li key={one.partition}>
                <Start estimate={one} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

function Start({ estimate: { partition, startAt, nodeList, jobsAhead, blockedReason } }: { estimate: StartEstimate }) {
  const now = useNow()
  if (!startAt)
    return (
      <div className="flex flex-wrap items-baseline gap-x-3 text-xs">
        <span className="font-mono">{partition}</span>
        <State tone="neutral">{t('slurmOverview.noStart')}</State>
        <span className="min-w-0 text-muted">{blockedReason}</span>
      </div>
    )
  const inMs = Date.parse(startAt) - now
  return (
    <div className="flex flex-wrap items-baseline gap-x-3 text-xs">
      <span className="font-mono">{partition}</span>
      <State tone={inMs <= NOW_MS ? 'ok' : 'accent'} title={formatDateTime(startAt)}>
        {inMs <= NOW_MS ? t('slurmOverview.startsNow') : t('slurmOverview.startsIn', { time: formatDuration(inMs) })}
      </State>
      <span className="min-w-0 text-muted">
        {t(inMs <= NOW_MS ? 'slurmOverview.whyNow' : 'slurmOverview.whyLater', { jobs: jobsAhead })}{' '}
        <span className="font-mono wrap-anywhere">{nodeList}</span>
      </span>
    </div>
  )
}
