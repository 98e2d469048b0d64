'use client'
import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { Dialog } from '@/ui/dialog.tsx'
import { ActionForm } from './action-form.tsx'
import { ActionProgress } from './action-progress.tsx'
import type { Targets, Verb } from './verbs.ts'

/** Runs an action: asks for its reason and shows its targets, then its results one by one. */
export function ActionDialog({
  clusterId,
  verb,
  targets,
  onClose,
  onDone,
}: {
  clusterId: string
  verb: Verb
  targets: Targets
  onClose: () => void
  onDone?: () => void
}) {
  const [actionId, setActionId] = useState<string | null>(null)
  return (
    <Dialog wide title={t(`slurmVerb.${verb}`)} onClose={onClose}>
      {actionId ? (
        <ActionProgress id={actionId} onClose={onClose} onDone={onDone} />
      ) : (
        <ActionForm clusterId={clusterId} verb={verb} targets={targets} onStarted={setActionId} onCancel={onClose} />
      )}
    </Dialog>
  )
}
