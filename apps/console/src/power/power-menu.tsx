'use client'
import { Power } from 'lucide-react'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { t } from '@/messages/index.ts'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { isDangerous, type PowerAction } from './documents.ts'
import { PowerDialog } from './power-dialog.tsx'

const actions: PowerAction[] = ['ON', 'OFF', 'FORCE_OFF', 'RESTART', 'CYCLE', 'NMI', 'BOOT_ONCE']
/** Power actions on nodes, each with its preview, reason and results. */
export function PowerMenu({ nodeIds, onDone }: { nodeIds: string[]; onDone?: () => void }) {
  const on = useBlockedReason('power:on')
  const off = useBlockedReason('power:off')
  const force = useBlockedReason('power:force')
  const boot = useBlockedReason('power:boot')
  const blocked: Record<PowerAction, string | null> = {
    ...{ ON: on, OFF: off, RESTART: off, FORCE_OFF: force, CYCLE: force, NMI: force, BOOT_ONCE: boot },
  }
  const [open, setOpen] = useState<PowerAction | null>(null)
  return (
    <>
      <Menu label={t('power.menu')} icon={<Power aria-hidden />} align="end">
        <div className="w-56">
          {actions.map((action) => (
            <MenuItem key={action} danger={isDangerous(action)} blockedReason={blocked[action]} onClick={() => setOpen(action)}>
              {t(`powerAction.${action}`)}
            </MenuItem>
          ))}
        </div>
      </Menu>
      {open && <PowerDialog action={open} nodeIds={nodeIds} onClose={() => setOpen(null)} {...(onDone ? { onDone } : {})} />}
    </>
  )
}
