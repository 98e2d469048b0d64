'use client'
import { Pencil, RotateCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { toast } from '@/ui/toast.tsx'
import { type ClusterRow, RemoveCluster } from './documents.ts'
import { EditClusterDialog } from './edit-cluster-dialog.tsx'
import { useRefresh } from './use-refresh.ts'

/** Refresh, edit and remove a cluster. */
export function ClusterActions({ cluster, onRemoved }: { cluster: ClusterRow; onRemoved: () => void }) {
  const { refresh, isRefreshing } = useRefresh(cluster)
  const remove = useMutation(RemoveCluster)
  const [open, setOpen] = useState<'edit' | 'remove' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <Button icon={<RotateCw aria-hidden />} busy={isRefreshing} blockedReason={cluster.refreshBlockedReason} onClick={refresh}>
        {isRefreshing ? t('slurm.refreshing') : t('slurm.refresh')}
      </Button>
      <Button icon={<Pencil aria-hidden />} blockedReason={cluster.updateBlockedReason} onClick={() => setOpen('edit')}>
        {t('slurm.edit')}
      </Button>
      <Button
        variant="danger"
        icon={<Trash2 aria-hidden />}
        blockedReason={cluster.updateBlockedReason}
        onClick={() => setOpen('remove')}
      >
        {t('slurm.remove')}
      </Button>
      {open === 'edit' && <EditClusterDialog cluster={cluster} onClose={close} />}
      {open === 'remove' && (
        <Confirm
          title={t('slurm.removeTitle', { name: cluster.name })}
          action={t('slurm.remove')}
          onClose={close}
          onConfirm={async () => {
            const outcome = await remove.run({ id: cluster.id })
            if (outcome.ok) {
              toast('ok', t('slurm.removed', { name: cluster.name }))
              onRemoved()
            }
            return outcome
          }}
        >
          <p>{t('slurm.removeText', { name: cluster.name })}</p>
        </Confirm>
      )}
    </>
  )
}
