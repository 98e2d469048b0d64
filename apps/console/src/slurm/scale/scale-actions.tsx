'use client'
import { Leaf, Minus, Plus } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { PowerSavingDialog } from '../power-saving/power-saving-dialog.tsx'
import { ScaleQuery } from './documents.ts'
import { ScaleInDialog } from './scale-in-dialog.tsx'
import { ScaleOutDialog } from './scale-out-dialog.tsx'

/** Scale-out, scale-in and power saving of a managed cluster; nothing for external clusters. */
export function ScaleActions({ cluster }: { cluster: { id: string; name: string; kind: string } }) {
  const [open, setOpen] = useState<'out' | 'in' | 'power' | null>(null)
  const isManaged = cluster.kind === 'MANAGED'
  const [{ data }, refetch] = useQuery({
    query: ScaleQuery,
    variables: { id: cluster.id },
    pause: !isManaged,
    requestPolicy: 'cache-and-network',
  })
  if (!isManaged || !data?.slurmCluster) return null
  const { scaleBlockedReason, setPowerSavingBlockedReason } = data.slurmCluster
  const dialog = {
    cluster,
    onClose: () => setOpen(null),
    onDone: () => refetch({ requestPolicy: 'network-only' }),
  }
  return (
    <>
      <Button icon={<Plus aria-hidden />} blockedReason={scaleBlockedReason} onClick={() => setOpen('out')}>
        {t('slurmScale.out')}
      </Button>
      <Button icon={<Minus aria-hidden />} blockedReason={scaleBlockedReason} onClick={() => setOpen('in')}>
        {t('slurmScale.in')}
      </Button>
      <Button icon={<Leaf aria-hidden />} blockedReason={setPowerSavingBlockedReason} onClick={() => setOpen('power')}>
        {t('slurmPower.open')}
      </Button>
      {open === 'out' && <ScaleOutDialog {...dialog} />}
      {open === 'in' && <ScaleInDialog {...dialog} />}
      {open === 'power' && <PowerSavingDialog {...dialog} />}
    </>
  )
}
