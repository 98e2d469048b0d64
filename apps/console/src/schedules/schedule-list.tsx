'use client'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { type ScheduleRow, scheduleHref } from './documents.ts'
import { FiringResult } from './firing-list.tsx'

/** Schedules with their next time and last result. */
export function ScheduleList({ rows }: { rows: ScheduleRow[] }) {
  return (
    <ul className="rounded-lg border border-line bg-panel" aria-label={t('schedule.title')}>
      {rows.map((schedule) => {
        const last = schedule.firings.edges[0]?.node
        return (
          <li
            key={schedule.id}
            className="grid gap-x-6 gap-y-1 border-line px-4 py-3 text-sm not-first:border-t md:grid-cols-[minmax(0,1fr)_170px_190px]"
          >
            <div className="flex min-w-0 flex-col gap-1">
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                <Link href={scheduleHref(schedule.id)} className="font-medium wrap-anywhere hover:underline">
                  {schedule.name}
                </Link>
                {!schedule.isEnabled && <Badge>{t('schedule.disabled')}</Badge>}
              </div>
              <p className="text-muted wrap-anywhere">
                {schedule.template?.displayName ?? t('scheduleTarget.DISCOVERY')} ·{' '}
                <span className="font-mono text-xs">{schedule.limit}</span>
              </p>
              <p className="text-xs text-muted wrap-anywhere">
                {schedule.ruleText} · {schedule.timeZone}
              </p>
            </div>
            <Cell label={t('schedule.next')}>
              <RelativeTime at={schedule.nextRunAt} never={t(schedule.isEnabled ? 'schedule.overShort' : 'common.none')} />
            </Cell>
            <Cell label={t('schedule.last')}>
              {last ? <FiringResult firing={last} /> : <span className="text-faint">{t('common.none')}</span>}
            </Cell>
          </li>
        )
      })}
    </ul>
  )
}

function Cell({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex items-baseline gap-2 md:flex-col md:gap-0.5">
      <span className="w-24 text-xs text-faint md:w-auto">{label}</span>
      <span>{children}</span>
    </div>
  )
}
