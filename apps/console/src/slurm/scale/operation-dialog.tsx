'use client'
import { type ReactNode, useState } from 'react'
import { Dialog } from '@/ui/dialog.tsx'
import { OperationProgress } from './operation-progress.tsx'

type Props = { title: string; onClose: () => void; onDone: () => void; children: (onStarted: (id: string) => void) => ReactNode }

/** A form that starts an operation, then the progress of the operation. */
export function OperationDialog({ title, onClose, onDone, children }: Props) {
  const [id, setId] = useState<string | null>(null)
  return (
    <Dialog wide title={title} onClose={onClose}>
      {id ? <OperationProgress id={id} onClose={onClose} onDone={onDone} /> : children(setId)}
    </Dialog>
  )
}
