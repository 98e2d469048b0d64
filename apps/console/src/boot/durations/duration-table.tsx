'use client'
import { formatDuration } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import type { BootDurationRow } from './documents.ts'

/** Time from the stage before to each stage. The bars compare the stages: median and 95th percentile. */
export function DurationTable({ rows }: { rows: readonly BootDurationRow[] }) {
  const longest = Math.max(1, ...rows.map(({ p95Ms }) => p95Ms))
  const width = (ms: number) => ({ width: `${Math.max(0.5, (ms / longest) * 100)}%` })
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-left text-sm">
        <thead className="text-xs text-muted">
          <tr>
            <th className="py-1 pr-3 font-medium" scope="col">
              {t('bootDuration.stage')}
            </th>
            <th className="py-1 pr-3 text-right font-medium" scope="col">
              {t('bootDuration.boots')}
            </th>
            <th className="py-1 pr-3 text-right font-medium" scope="col">
              {t('bootDuration.p50')}
            </th>
            <th className="py-1 pr-3 text-right font-medium" scope="col">
              {t('bootDuration.p95')}
            </th>
            <td className="w-1/2 max-sm:hidden" />
          </tr>
        </thead>
        <tbody>
          {rows.map(({ stage, boots, p50Ms, p95Ms }) => (
            <tr key={stage} className="border-t border-line">
              <th className="py-1.5 pr-3 font-normal whitespace-nowrap" scope="row">
                {t(`bootStage.${stage}`)}
              </th>
              <td className="py-1.5 pr-3 text-right text-muted tabular-nums">{formatNumber(boots)}</td>
              <td className="py-1.5 pr-3 text-right whitespace-nowrap tabular-nums">{formatDuration(p50Ms)}</td>
              <td className="py-1.5 pr-3 text-right whitespace-nowrap tabular-nums">{formatDuration(p95Ms)}</td>
              <td className="py-1.5 max-sm:hidden" aria-hidden>
                <div className="relative h-2">
                  <div className="absolute inset-y-0 left-0 rounded-sm bg-accent/25" style={width(p95Ms)} />
                  <div className="absolute inset-y-0 left-0 rounded-sm bg-accent" style={width(p50Ms)} />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
