'use client'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { type AlertRow, ResolveAlert } from './documents.ts'
import { NoteDialog } from './note-dialog.tsx'

type Props = { alert: AlertRow; onClose: () => void; onDone: (alert: AlertRow) => void }

/** Resolves an alert: marks the change behind it as expected, or ends that of a failed scale-out. */
export function ResolveDialog({ alert, onClose, onDone }: Props) {
  const mutation = useMutation(ResolveAlert)
  const isExpected = alert.kind === 'ACCELERATOR_LOST'
  return (
    <NoteDialog
      title={t(isExpected ? 'alerts.expectedTitle' : 'alerts.resolveTitle')}
      action={t(isExpected ? 'alerts.expected' : 'alerts.resolve')}
      hint={t(isExpected ? 'alerts.expectedHint' : 'alerts.resolveHint')}
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
