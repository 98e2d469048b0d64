'use client'
import { type ReactNode, useState } from 'react'
import { DrainAgent, ResumeAgent } from '@/agents/agent-documents.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { SelectField, TextField } from '@/ui/field.tsx'
import { BulkDialog } from '../bulk-dialog.tsx'
import { DecommissionNode } from '../node-documents.ts'
import { type NodeStateChange, SetNodeMaintenance } from './documents.ts'
import { StatePreview } from './state-preview.tsx'

export const STATE_ACTIONS = ['maintenance', 'endMaintenance', 'drain', 'resume', 'decommission'] as const
export type StateAction = (typeof STATE_ACTIONS)[number]

/** When a maintenance ends, in hours; an empty text: when a user ends it. */
const lengths = ['1', '4', '24', '168', ''] as const

const previews: Partial<Record<StateAction, NodeStateChange>> = {
  maintenance: 'MAINTENANCE',
  drain: 'DRAIN',
  decommission: 'DECOMMISSION',
}

/** Changes the state of nodes, with a preview that names them and the result per node. */
export function StateDialog({
  ids,
  action,
  title,
  onClose,
}: {
  ids: string[]
  action: StateAction
  title: string
  onClose: () => void
}) {
  const maintenance = useMutation(SetNodeMaintenance)
  const drain = useMutation(DrainAgent)
  const resume = useMutation(ResumeAgent)
  const decommission = useMutation(DecommissionNode)
  const [reason, setReason] = useState('')
  const [hours, setHours] = useState<string>('4')
  const [previewed] = useState(ids)
  const change = previews[action]
  const endsAt = () => (hours ? new Date(Date.now() + Number(hours) * 3_600_000).toISOString() : null)
  const send = ({ id }: { id: string }) => {
    if (action === 'drain') return drain.run({ nodeId: id, reason: reason.trim() })
    if (action === 'resume') return resume.run({ nodeId: id })
    if (action === 'decommission') return decommission.run({ id })
    const isStart = action === 'maintenance'
    return maintenance.run({ input: { id, enabled: isStart, ...(isStart ? { reason: reason.trim(), endsAt: endsAt() } : {}) } })
  }
  const needsReason = action === 'drain' || action === 'maintenance'
  const fields: ReactNode = needsReason && (
    <TextField label={t('nodeState.reason')} value={reason} onChange={(event) => setReason(event.target.value)} autoFocus />
  )
  return (
    <BulkDialog
      ids={ids}
      title={title}
      action={t(`nodeState.action.${action}`)}
      isDangerous={action === 'decommission'}
      blockedReason={needsReason && !reason.trim() ? t('nodeState.needReason') : null}
      send={send}
      onClose={onClose}
    >
      <p>{t(`nodeState.text.${action}`)}</p>
      {fields}
      {action === 'maintenance' && (
        <SelectField label={t('nodeState.length')} value={hours} onChange={(event) => setHours(event.target.value)}>
          {lengths.map((each) => (
            <option key={each} value={each}>
              {each ? t(`silences.hours.${each}`) : t('nodeState.untilEnded')}
            </option>
          ))}
        </SelectField>
      )}
      {change && <StatePreview ids={previewed} change={change} />}
    </BulkDialog>
  )
}
