'use client'
import { useVerb } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { type AlertRow, EndAlert } from './documents.ts'
import { NoteDialog } from './note-dialog.tsx'

type Props = { alert: AlertRow; onClose: () => void; onDone: (alert: AlertRow) => void }

/** Say that what an alert tells of is meant to stay as it is now. */
export function EndDialog({ alert, onClose, onDone }: Props) {
  const verb = useVerb(EndAlert)
  return (
    <NoteDialog
      title={t('alerts.endTitle')}
      action={t('alerts.end')}
      hint={t('alerts.endHint')}
      alerts={[alert]}
      verb={verb}
      onClose={onClose}
      send={async (note) => {
        const outcome = await verb.run({ id: alert.id, note })
        if (outcome.ok) onDone(outcome.value)
        return outcome
      }}
    />
  )
}
