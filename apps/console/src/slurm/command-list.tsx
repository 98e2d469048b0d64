import clsx from 'clsx'
import { CircleCheck, CircleMinus, CircleX, LoaderCircle } from 'lucide-react'
import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import type { CommandReport } from './documents.ts'

const icons = { OK: CircleCheck, FAILED: CircleX, SKIPPED: CircleMinus }
const colors = { OK: 'text-ok', FAILED: 'text-bad', SKIPPED: 'text-faint' }
type QueryName = Parameters<typeof t>[0] & `slurmQuery.${string}`

function labelOf(query: string): string {
  const key = `slurmQuery.${query}` as QueryName
  return t.has(key) ? t(key) : query
}

/** Commands on a controller's host with their results and hints. `isRunning`: more follow. */
export function CommandList({ commands, isRunning }: { commands: readonly CommandReport[]; isRunning?: boolean }) {
  return (
    <ul aria-label={t('slurm.commands')}>
      {commands.map((report) => {
        const Icon = icons[report.state]
        return (
          <li key={report.query} className="flex gap-2 py-1 text-sm" data-query={report.query} data-state={report.state}>
            <Icon
              className={clsx('mt-0.5 size-4 shrink-0', colors[report.state])}
              aria-label={t(`slurmQueryState.${report.state}`)}
            />
            <div className="min-w-0 flex-1">
              <div className="flex items-baseline justify-between gap-3">
                <span>{labelOf(report.query)}</span>
                <span className="shrink-0 text-xs text-faint tabular-nums">
                  {report.state === 'SKIPPED' ? t('slurmQueryState.SKIPPED') : formatDuration(report.durationMs)}
                </span>
              </div>
              {report.state !== 'SKIPPED' && report.command && (
                <code className="block font-mono text-xs break-all text-faint">{report.command}</code>
              )}
              {report.detail && <p className="text-xs break-words whitespace-pre-line text-muted">{report.detail}</p>}
              {report.hint && report.state === 'FAILED' && <p className="text-xs break-words text-bad">{report.hint}</p>}
            </div>
          </li>
        )
      })}
      {isRunning && (
        <li className="flex items-center gap-2 py-1 text-sm text-faint">
          <LoaderCircle className="size-4 animate-spin" aria-hidden />
          {t('test.running')}
        </li>
      )}
    </ul>
  )
}
