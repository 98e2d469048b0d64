'use client'
import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { Dialog } from '@/ui/dialog.tsx'
import { ActionForm } from './action-form.tsx'
import { ActionProgress } from './action-progress.tsx'
import type { Action } from './documents.ts'
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
  onDone: () => void
}) {
  const [action, setAction] = useState<Action | null>(null)
  return (
    <Dialog wide title={t(`slurmVerb.${verb}`)} onClose={onClose}>
      {action ? (
        <ActionProgress started={action} onClose={onClose} onDone={onDone} />
      ) : (
        <ActionForm clusterId={clusterId} verb={verb} targets={targets} onStarted={setAction} onCancel={onClose} />
      )}
    </Dialog>
  )
}
