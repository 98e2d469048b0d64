import { CalendarClock } from 'lucide-react'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Empty } from '@/ui/empty.tsx'
import type { ClusterPage } from './cluster-documents.ts'

const time = (at: string | null): string => (at ? formatDateTime(at) : t('common.none'))

/** The reservations of a cluster. */
export function ReservationsTab({ reservations }: { reservations: ClusterPage['reservations'] }) {
  if (reservations.length === 0)
    return (
      <Empty icon={<CalendarClock aria-hidden />} title={t('slurmReservation.emptyTitle')}>
        <p>{t('slurmReservation.emptyText')}</p>
      </Empty>
    )
  return (
    <ul className="flex flex-col rounded-lg border border-line bg-panel" aria-label={t('slurmReservation.title')}>
      {reservations.map((one) => (
        <li key={one.name} className="flex flex-col gap-1 border-b border-line px-4 py-3 text-sm last:border-0">
          <div className="flex flex-wrap items-center gap-2">
            <span className="font-mono font-medium wrap-anywhere">{one.name}</span>
            {one.flags.map((flag) => (
              <Badge key={flag} mono>
                {flag}
              </Badge>
            ))}
            <span className="ml-auto text-xs text-muted">
              {time(one.startAt)} – {time(one.endAt)}
            </span>
          </div>
          <p className="text-xs break-words text-muted">
            <span className="font-mono">{one.nodeList || t('common.none')}</span>
            {' · '}
            {t('slurmReservation.for')} {[...one.users, ...one.accounts].join(', ') || t('common.none')}
            {one.comment && ` · ${one.comment}`}
          </p>
        </li>
      ))}
    </ul>
  )
}
