'use client'
import { CalendarClock, Plus } from 'lucide-react'
import { useState } from 'react'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { ActionDialog } from './actions/action-dialog.tsx'
import { useBlockedReason, VerbMenu } from './actions/action-menu.tsx'
import type { Reservation, Verb } from './actions/verbs.ts'

const time = (at: string | null): string => (at ? formatDateTime(at) : t('common.none'))

/** The reservations of a cluster, and the actions on them. They change with the next refresh, which each action requests. */
export function ReservationsTab({ clusterId, reservations }: { clusterId: string; reservations: readonly Reservation[] }) {
  const blockedReasonOf = useBlockedReason(clusterId)
  // Here, because the row of a deleted reservation disappears before the user closes the dialog.
  const [action, setAction] = useState<{ verb: Verb; reservation: Reservation | null } | null>(null)
  return (
    <div className="flex flex-col gap-3">
      <div className="flex justify-end">
        <Button
          icon={<Plus aria-hidden />}
          blockedReason={blockedReasonOf('CREATE_RESERVATION')}
          onClick={() => setAction({ verb: 'CREATE_RESERVATION', reservation: null })}
        >
          {t('slurmVerb.CREATE_RESERVATION')}
        </Button>
      </div>
      {reservations.length === 0 ? (
        <Empty icon={<CalendarClock aria-hidden />} title={t('slurmReservation.emptyTitle')}>
          <p>{t('slurmReservation.emptyText')}</p>
        </Empty>
      ) : (
        <ul className="flex flex-col rounded-lg border border-line bg-panel" aria-label={t('slurmReservation.title')}>
          {reservations.map((one) => (
            <li
              key={one.name}
              className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 text-sm last:border-0"
            >
              <div className="flex min-w-0 flex-1 basis-72 flex-col gap-1">
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
              </div>
              <VerbMenu
                kind="reservations"
                blockedReasonOf={blockedReasonOf}
                onChoose={(verb) => setAction({ verb, reservation: one })}
              />
            </li>
          ))}
        </ul>
      )}
      {action && (
        <ActionDialog
          clusterId={clusterId}
          verb={action.verb}
          targets={{ kind: 'reservations', reservation: action.reservation }}
          onClose={() => setAction(null)}
        />
      )}
    </div>
  )
}
