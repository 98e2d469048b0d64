'use client'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { type AlertRow, ResolveAlert } from './documents.ts'
import { NoteDialog } from './note-dialog.tsx'

type Props = { alert: AlertRow; onClose: () => void; onDone: (alert: AlertRow) => void }

/** Marks the change behind an alert as expected and resolves it. */
export function ResolveDialog({ alert, onClose, onDone }: Props) {
  const mutation = useMutation(ResolveAlert)
  return (
    <NoteDialog
      title={t('alerts.expectedTitle')}
      action={t('alerts.expected')}
      hint={t('alerts.expectedHint')}
      alerts={[alert]}
      mutation={mutation}
      onClose={onClose}
      send={async (note) => {
        const outcome = await mutation.run({ id: alert.id, note })
        if (outcome.ok) onDone(outcome.value.alert)
        return outcome
      }}
    />
  )
}
