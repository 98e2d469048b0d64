'use client'
import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { Dialog } from '@/ui/dialog.tsx'
import type { BootDevice, PowerAction } from './documents.ts'
import { PowerForm } from './power-form.tsx'
import { PowerProgress } from './power-progress.tsx'

type Props = {
  action: PowerAction
  nodeIds: string[]
  bootDevice?: BootDevice
  /** A warning above the nodes. */
  note?: string
  onClose: () => void
  onDone?: () => void
}

/** Runs a power action: shows its nodes and asks for the reason, then shows the result of each node. */
export function PowerDialog({ action, nodeIds: initialIds, bootDevice, note, onClose, onDone }: Props) {
  // The selection of the page may change while the dialog is open.
  const [nodeIds] = useState(initialIds)
  const [runId, setRunId] = useState<string | null>(null)
  return (
    <Dialog wide title={t(`powerAction.${action}`)} onClose={onClose}>
      {runId ? (
        <PowerProgress id={runId} onClose={onClose} {...(onDone ? { onDone } : {})} />
      ) : (
        <PowerForm
          action={action}
          nodeIds={nodeIds}
          initialDevice={bootDevice ?? 'PXE'}
          note={note ?? null}
          onStarted={setRunId}
          onCancel={onClose}
        />
      )}
    </Dialog>
  )
}
