'use client'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { AcknowledgeAlerts, type AlertRow } from './documents.ts'
import { NoteDialog } from './note-dialog.tsx'

type Props = { alerts: AlertRow[]; onClose: () => void; onDone: (alerts: AlertRow[]) => void }

/** Acknowledges alerts with a note. */
export function AcknowledgeDialog({ alerts, onClose, onDone }: Props) {
  const mutation = useMutation(AcknowledgeAlerts)
  return (
    <NoteDialog
      title={t('alerts.acknowledgeTitle', { count: alerts.length })}
      action={t('alerts.acknowledge')}
      hint={t('alerts.noteHint')}
      alerts={alerts}
      mutation={mutation}
      onClose={onClose}
      send={async (note) => {
        const outcome = await mutation.run({ ids: alerts.map(({ id }) => id), note })
        if (outcome.ok) onDone(outcome.value.alerts)
        return outcome
      }}
    />
  )
}
