'use client'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import type { ImportReport } from '@/nodes/add/documents.ts'
import { ImportRows } from '@/nodes/add/import-rows.tsx'
import { toNodesParam } from '@/nodes/selection-store.ts'
import { OnboardNodes } from '@/slurm/cluster-documents.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'

/** Adds nodes of a cluster to the inventory, with the credentials of its controller's node, and continues with their connection test. */
export function OnboardDialog({
  clusterId,
  names,
  onClose,
  onDone,
}: {
  clusterId: string
  names: string[]
  onClose: () => void
  onDone: () => void
}) {
  const router = useRouter()
  const onboard = useMutation(OnboardNodes)
  const [report, setReport] = useState<ImportReport | null>(null)
  const added = report?.rows.flatMap(({ state, node }) => (state === 'ADDED' && node ? [node.id] : [])) ?? []
  async function add() {
    const outcome = await onboard.run({ input: { clusterId, hostlist: names.join(',') } })
    if (!outcome.ok) return
    setReport(outcome.value.report)
    onDone()
  }
  return (
    <Dialog
      wide
      title={t('slurmNode.onboardTitle', { count: names.length })}
      onClose={onClose}
      footer={
        report ? (
          <>
            <Button onClick={onClose}>{t('common.close')}</Button>
            {added.length > 0 && (
              <Button
                variant="primary"
                onClick={() => router.push(`/nodes/add?step=test&nodes=${encodeURIComponent(toNodesParam(added))}`)}
              >
                {t('slurmNode.onboardTest', { count: added.length })}
              </Button>
            )}
          </>
        ) : (
          <>
            <Button onClick={onClose}>{t('common.cancel')}</Button>
            <Button variant="primary" busy={onboard.busy} onClick={() => void add()}>
              {t('slurmNode.onboard')}
            </Button>
          </>
        )
      }
    >
      <div className="flex flex-col gap-3 text-sm">
        {onboard.problem && <Notice tone="bad">{onboard.problem.message}</Notice>}
        {report ? (
          <ImportRows report={report} />
        ) : (
          <>
            <p>{t('slurmNode.onboardText')}</p>
            <p className="max-h-40 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs break-all">{names.join(', ')}</p>
          </>
        )}
      </div>
    </Dialog>
  )
}
