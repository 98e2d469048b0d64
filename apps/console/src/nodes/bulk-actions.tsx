'use client'
import { Archive, ArchiveRestore, EllipsisVertical, Pencil, Trash2, Wrench } from 'lucide-react'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { TextField } from '@/ui/field.tsx'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { BulkDialog } from './bulk-dialog.tsx'
import { BulkEdit } from './bulk-edit.tsx'
import { SetNodeMaintenance } from './documents.ts'
import { DecommissionNode, PurgeNode, RecommissionNode } from './node-documents.ts'

type Props = { ids: string[]; blockedReason: string | null; onPurged: (ids: string[]) => void }
type Action = 'edit' | 'maintenance' | 'endMaintenance' | 'decommission' | 'recommission' | 'purge'

/** Actions that change the selected nodes, each with a confirmation and results per node. */
export function BulkActions({ ids, blockedReason, onPurged }: Props) {
  const maintenance = useMutation(SetNodeMaintenance)
  const decommission = useMutation(DecommissionNode)
  const recommission = useMutation(RecommissionNode)
  const purge = useMutation(PurgeNode)
  const [open, setOpen] = useState<Action | null>(null)
  const [typed, setTyped] = useState('')
  const count = ids.length
  const close = () => setOpen(null)
  const purgeBlocked = useBlockedReason('node:purge')
  const item = (action: Action, label: string, Icon: typeof Pencil, danger = false) => (
    <MenuItem
      icon={<Icon aria-hidden />}
      danger={danger}
      blockedReason={blockedReason ?? (action === 'purge' ? purgeBlocked : null)}
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
          {item('recommission', t('node.recommission'), ArchiveRestore)}
          {item('decommission', t('node.decommission'), Archive, true)}
          {item('purge', t('node.purge'), Trash2, true)}
        </div>
      </Menu>
      {open === 'edit' && <BulkEdit ids={ids} onClose={close} />}
      {(open === 'maintenance' || open === 'endMaintenance') && (
        <BulkDialog
          ids={ids}
          title={t(`bulk.${open}Title`, { count })}
          action={open === 'maintenance' ? t('nodes.maintenance') : t('node.endMaintenance')}
          send={({ id }) => maintenance.run({ id, enabled: open === 'maintenance' })}
          onClose={close}
        >
          <p>{t(`bulk.${open}Text`)}</p>
        </BulkDialog>
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
      {open === 'decommission' && (
        <BulkDialog
          ids={ids}
          title={t('bulk.decommissionTitle', { count })}
          action={t('node.decommission')}
          isDangerous
          send={({ id }) => decommission.run({ id })}
          onClose={close}
        >
          <p>{t('node.decommissionText')}</p>
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
