'use client'
import { Archive, ArchiveRestore, CirclePause, CirclePlay, EllipsisVertical, Pencil, Trash2, Wrench } from 'lucide-react'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { TextField } from '@/ui/field.tsx'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { BulkDialog } from './bulk-dialog.tsx'
import { BulkEdit } from './bulk-edit.tsx'
import { PurgeNode, RecommissionNode } from './node-documents.ts'
import { STATE_ACTIONS, type StateAction, StateDialog } from './states/state-dialog.tsx'

type Props = { ids: string[]; blockedReason: string | null; onPurged: (ids: string[]) => void }
type Action = 'edit' | 'recommission' | 'purge' | StateAction

const isStateAction = (action: Action | null): action is StateAction => STATE_ACTIONS.some((each) => each === action)

/** Actions that change the selected nodes, each with a confirmation and results per node. */
export function BulkActions({ ids, blockedReason, onPurged }: Props) {
  const recommission = useMutation(RecommissionNode)
  const purge = useMutation(PurgeNode)
  const [open, setOpen] = useState<Action | null>(null)
  const [typed, setTyped] = useState('')
  const count = ids.length
  const close = () => setOpen(null)
  const purgeBlocked = useBlockedReason('node:purge')
  const agentBlocked = useBlockedReason('agent:write')
  const blockedOf = (action: Action) => {
    if (action === 'drain' || action === 'resume') return agentBlocked
    return blockedReason ?? (action === 'purge' ? purgeBlocked : null)
  }
  const item = (action: Action, label: string, Icon: typeof Pencil, danger = false) => (
    <MenuItem
      icon={<Icon aria-hidden />}
      danger={danger}
      blockedReason={blockedOf(action)}
      onClick={() => {
        setTyped('')
        setOpen(action)
      }}
    >
      {label}
    </MenuItem>
  )
  return (
    <>
      <Menu label={t('node.more')} icon={<EllipsisVertical aria-hidden />} iconOnly align="end">
        <div className="w-56">
          {item('edit', t('node.edit'), Pencil)}
          {item('maintenance', t('nodes.maintenance'), Wrench)}
          {item('endMaintenance', t('node.endMaintenance'), Wrench)}
          {item('drain', t('nodeState.action.drain'), CirclePause)}
          {item('resume', t('nodeState.action.resume'), CirclePlay)}
          {item('recommission', t('node.recommission'), ArchiveRestore)}
          {item('decommission', t('node.decommission'), Archive, true)}
          {item('purge', t('node.purge'), Trash2, true)}
        </div>
      </Menu>
      {open === 'edit' && <BulkEdit ids={ids} onClose={close} />}
      {isStateAction(open) && (
        <StateDialog ids={ids} action={open} title={t(`nodeState.title.${open}`, { count })} onClose={close} />
      )}
      {open === 'recommission' && (
        <BulkDialog
          ids={ids}
          title={t('bulk.recommissionTitle', { count })}
          action={t('node.recommission')}
          send={({ id }) => recommission.run({ id })}
          onClose={close}
        >
          <p>{t('bulk.recommissionText')}</p>
        </BulkDialog>
      )}
      {open === 'purge' && (
        <BulkDialog
          ids={ids}
          title={t('bulk.purgeTitle', { count })}
          action={t('node.purge')}
          isDangerous
          blockedReason={typed === String(count) ? null : t('confirm.type', { name: String(count) })}
          send={({ id }) => purge.run({ id })}
          onDone={onPurged}
          onClose={close}
        >
          <p>{t('bulk.purgeText')}</p>
          <TextField
            label={t('confirm.type', { name: String(count) })}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            mono
            autoComplete="off"
          />
        </BulkDialog>
      )}
    </>
  )
}
