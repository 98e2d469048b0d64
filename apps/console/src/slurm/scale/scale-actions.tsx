'use client'
import { Minus, Plus } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { ScaleQuery } from './documents.ts'
import { ScaleInDialog } from './scale-in-dialog.tsx'
import { ScaleOutDialog } from './scale-out-dialog.tsx'

/** Adds nodes to a managed cluster and removes them; nothing for external clusters. */
export function ScaleActions({ cluster }: { cluster: { id: string; name: string; kind: string } }) {
  const [open, setOpen] = useState<'out' | 'in' | null>(null)
  const isManaged = cluster.kind === 'MANAGED'
  const [{ data }, refetch] = useQuery({
    query: ScaleQuery,
    variables: { id: cluster.id },
    pause: !isManaged,
    requestPolicy: 'cache-and-network',
  })
  if (!isManaged || !data?.slurmCluster) return null
  const { scaleBlockedReason } = data.slurmCluster
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
      {open === 'out' && <ScaleOutDialog {...dialog} />}
      {open === 'in' && <ScaleInDialog {...dialog} />}
    </>
  )
}
