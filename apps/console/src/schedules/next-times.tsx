'use client'
import { t } from '@/messages/index.ts'
import { getLanguage } from '@/messages/language.ts'
import { Badge } from '@/ui/badge.tsx'
import type { DueTime } from './documents.ts'

/** Date and time in the time zone of a schedule, with the offset: two times of a night with a change differ only in it. */
export function formatInZone(iso: string, timeZone: string): string {
  return new Intl.DateTimeFormat(getLanguage(), {
    ...{ weekday: 'short', year: 'numeric', month: 'short', day: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'shortOffset' },
    timeZone,
  }).format(new Date(iso))
}

/** The next times of a schedule, with the blackouts that cover them. */
export function NextTimes({ times, timeZone }: { times: DueTime[]; timeZone: string }) {
  if (times.length === 0) return <p className="text-sm text-muted">{t('schedule.over')}</p>
  return (
    <ol className="flex flex-col gap-1 text-sm" aria-label={t('schedule.nextTimes')}>
      {times.map(({ dueAt, runAt, blackout }) => (
        <li key={dueAt} className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
          <time dateTime={runAt} className={blackout ? 'text-faint line-through' : 'tabular-nums'}>
            {formatInZone(runAt, timeZone)}
          </time>
          {blackout && <Badge tone="warn">{blackout}</Badge>}
        </li>
      ))}
    </ol>
  )
}
