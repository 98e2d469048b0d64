'use client'
import { Archive, ArchiveRestore, Cable, EllipsisVertical, Pencil, Play, Radar, Trash2, Wrench } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useMemo, useState } from 'react'
import { TestDialog } from '@/connections/test-dialog.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { toast } from '@/ui/toast.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { type NodeHead, PurgeNode, RecommissionNode } from './node-documents.ts'
import { StateDialog } from './states/state-dialog.tsx'

type Props = { node: NodeHead; onDiscover: () => void; isDiscovering: boolean }

/** Actions on a node. A blocked action stays visible and shows its reason. */
export function NodeActions({ node, onDiscover, isDiscovering }: Props) {
  const nodeIds = useMemo(() => [node.id], [node.id])
  const router = useRouter()
  const recommission = useMutation(RecommissionNode)
  const purge = useMutation(PurgeNode)
  const [open, setOpen] = useState<'edit' | 'test' | 'maintenance' | 'endMaintenance' | 'decommission' | 'purge' | null>(null)
  const close = () => setOpen(null)
  const isDecommissioned = node.status === 'DECOMMISSIONED'
  const isInMaintenance = node.status === 'MAINTENANCE'
  const blocked = node.updateBlockedReason
  const decommissionedReason = blocked ?? (isDecommissioned ? t('node.blockedOut') : null)
  return (
    <>
      <Button icon={<Cable aria-hidden />} blockedReason={decommissionedReason} onClick={() => setOpen('test')}>
        {t('nodes.test')}
      </Button>
      <Button icon={<Radar aria-hidden />} blockedReason={decommissionedReason} busy={isDiscovering} onClick={onDiscover}>
        {t('nodes.discover')}
      </Button>
      <Button
        variant="primary"
        icon={<Play aria-hidden />}
        blockedReason={decommissionedReason}
        onClick={() => router.push(`/runs/new?nodes=${encodeURIComponent(node.id)}`)}
      >
        {t('nodes.run')}
      </Button>
      <Menu label={t('node.more')} icon={<EllipsisVertical aria-hidden />} iconOnly align="end">
        <div className="w-56">
          <MenuItem icon={<Pencil aria-hidden />} blockedReason={blocked} onClick={() => setOpen('edit')}>
            {t('node.edit')}
          </MenuItem>
          <MenuItem icon={<Wrench aria-hidden />} blockedReason={decommissionedReason} onClick={() => setOpen('maintenance')}>
            {isInMaintenance ? t('nodeState.changeMaintenance') : t('nodes.maintenance')}
          </MenuItem>
          {isInMaintenance && (
            <MenuItem icon={<Wrench aria-hidden />} blockedReason={blocked} onClick={() => setOpen('endMaintenance')}>
              {t('node.endMaintenance')}
            </MenuItem>
          )}
          {isDecommissioned ? (
            <MenuItem
              icon={<ArchiveRestore aria-hidden />}
              blockedReason={blocked}
              onClick={() =>
                void recommission.run({ id: node.id }).then((outcome) => !outcome.ok && toast('bad', outcome.problem.message))
              }
            >
              {t('node.recommission')}
            </MenuItem>
          ) : (
            <MenuItem icon={<Archive aria-hidden />} danger blockedReason={blocked} onClick={() => setOpen('decommission')}>
              {t('node.decommission')}
            </MenuItem>
          )}
          <MenuItem icon={<Trash2 aria-hidden />} danger blockedReason={node.purgeBlockedReason} onClick={() => setOpen('purge')}>
            {t('node.purge')}
          </MenuItem>
        </div>
      </Menu>
      {open === 'edit' && <EditDialog node={node} onClose={close} />}
      {open === 'test' && <TestDialog nodeIds={nodeIds} title={t('test.title', { name: node.name })} onClose={close} />}
      {(open === 'maintenance' || open === 'endMaintenance' || open === 'decommission') && (
        <StateDialog ids={nodeIds} action={open} title={t(`nodeState.titleOne.${open}`, { name: node.name })} onClose={close} />
      )}
      {open === 'purge' && (
        <Confirm
          title={t('node.purgeTitle', { name: node.name })}
          action={t('node.purge')}
          confirmText={node.name}
          onClose={close}
          onConfirm={async () => {
            const outcome = await purge.run({ id: node.id })
            if (outcome.ok) {
              toast('ok', t('node.purged', { name: node.name }))
              router.replace('/nodes')
            }
            return outcome
          }}
        >
          <p>{t('node.purgeText')}</p>
        </Confirm>
      )}
    </>
  )
}
