'use client'
import Link from 'next/link'
import { formatNumber, t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { statusTones } from '../power-badges.tsx'
import { type PowerRunRow, PROBLEMS, powerRunHref } from './documents.ts'

export const powerRunColumns =
  'grid grid-cols-[120px_minmax(150px,1fr)_90px_minmax(140px,1fr)_minmax(120px,1.6fr)_minmax(90px,0.7fr)_76px] items-center gap-x-4 px-4'

export const powerActionName = ({ action, bootDevice }: Pick<PowerRunRow, 'action' | 'bootDevice'>) =>
  bootDevice ? t('powerRun.bootOnce', { device: t(`bootDevice.${bootDevice}`) }) : t(`powerAction.${action}`)

export const PowerRunState = ({ run }: { run: PowerRunRow }) => (
  <span data-testid="power-run" data-status={run.status}>
    <State tone={statusTones[run.status]} busy={!run.finishedAt}>
      {t(`powerRunStatus.${run.status}`)}
    </State>
  </span>
)

export const progressText = ({ results, targetCount }: PowerRunRow): string => {
  const ended = results.reduce((sum, { count }) => sum + count, 0)
  return t('powerRun.progress', { count: formatNumber(ended), total: formatNumber(targetCount) })
}

const resultText = (run: PowerRunRow): string =>
  run.finishedAt
    ? run.results
        .filter(({ result }) => (PROBLEMS as readonly string[]).includes(result))
        .map(({ result, count }) => `${formatNumber(count)} ${t(`powerResult.${result}`)}`)
        .join(', ')
    : progressText(run)

/** One power run in a list; a card on a phone. */
export function PowerRunLine({ run, isNarrow }: { run: PowerRunRow; isNarrow: boolean }) {
  const name = (
    <Link href={powerRunHref(run.id)} className="truncate font-medium after:absolute after:inset-0 hover:underline">
      {powerActionName(run)}
    </Link>
  )
  const nodes = t('power.nodes', { count: run.targetCount })
  if (isNarrow)
    return (
      <div className="relative flex h-full flex-col justify-center gap-1.5 border-b border-line px-3 text-sm">
        <div className="flex items-center justify-between gap-2">
          {name}
          <PowerRunState run={run} />
        </div>
        <div className="flex items-center justify-between gap-2 text-xs text-muted">
          <span className="min-w-0 truncate">{[nodes, resultText(run) || run.reason].join(' · ')}</span>
          <RelativeTime at={run.createdAt} />
        </div>
      </div>
    )
  return (
    <div className={`${powerRunColumns} relative h-full border-b border-line text-sm hover:bg-hover`}>
      <PowerRunState run={run} />
      {name}
      <span className="text-muted tabular-nums">{nodes}</span>
      <span className="truncate text-muted tabular-nums">{resultText(run)}</span>
      <span className="truncate text-muted">{run.reason}</span>
      <span className="truncate text-muted">{run.createdBy.name}</span>
      <span className="text-right text-xs text-muted">
        <RelativeTime at={run.createdAt} />
      </span>
    </div>
  )
}
