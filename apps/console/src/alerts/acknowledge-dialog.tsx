'use client'
import { useVerb } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { AcknowledgeAlerts, type AlertRow } from './documents.ts'
import { NoteDialog } from './note-dialog.tsx'

type Props = { alerts: AlertRow[]; onClose: () => void; onDone: (alerts: AlertRow[]) => void }

/** Say that one looks after alerts, and what is being done. */
export function AcknowledgeDialog({ alerts, onClose, onDone }: Props) {
  const verb = useVerb(AcknowledgeAlerts)
  return (
    <NoteDialog
      title={t('alerts.acknowledgeTitle', { count: alerts.length })}
      action={t('alerts.acknowledge')}
      hint={t('alerts.noteHint')}
      alerts={alerts}
      verb={verb}
      onClose={onClose}
      send={async (note) => {
        const outcome = await verb.run({ ids: alerts.map(({ id }) => id), note })
        if (outcome.ok) onDone(outcome.value.alerts)
        return outcome
      }}
    />
  )
}
