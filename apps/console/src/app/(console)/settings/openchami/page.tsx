'use client'
import { ArrowLeftRight, GitCompareArrows, Pencil, Trash2, Upload } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { CheckTarget, RemoveTarget, type Target, TargetQuery } from '@/openchami/documents.ts'
import { TargetDialog } from '@/openchami/target-dialog.tsx'
import { TargetView } from '@/openchami/target-view.tsx'
import { usePolling } from '@/system/use-polling.ts'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'

type Dialog = 'edit' | 'push' | 'remove'

function Actions({ target, onOpen, reload }: { target: Target; onOpen: (dialog: Dialog) => void; reload: () => void }) {
  const check = useMutation(CheckTarget)
  const { updateBlockedReason: blockedReason, isCheckPending } = target
  async function compare() {
    const outcome = await check.run({ mode: 'REPORT' })
    if (!outcome.ok) toast('bad', outcome.problem.message)
    reload()
  }
  return (
    <>
      <Button
        icon={<GitCompareArrows aria-hidden />}
        blockedReason={blockedReason}
        busy={isCheckPending}
        onClick={() => void compare()}
      >
        {t('openchami.check')}
      </Button>
      <Button icon={<Upload aria-hidden />} blockedReason={blockedReason} onClick={() => onOpen('push')}>
        {t('openchami.push')}
      </Button>
      <Button icon={<Pencil aria-hidden />} blockedReason={blockedReason} onClick={() => onOpen('edit')}>
        {t('group.edit')}
      </Button>
      <Button variant="danger" icon={<Trash2 aria-hidden />} blockedReason={blockedReason} onClick={() => onOpen('remove')}>
        {t('openchami.remove')}
      </Button>
    </>
  )
}

/** The SMD and BSS of OpenCHAMI that are to have what the tenant has. */
export default function OpenchamiPage() {
  useTitle(t('openchami.title'))
  const [{ data, error }, refetch] = useQuery({ query: TargetQuery, requestPolicy: 'cache-and-network' })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  const blockedReason = useBlockedReason('openchami_target:write')
  const check = useMutation(CheckTarget)
  const remove = useMutation(RemoveTarget)
  const [dialog, setDialog] = useState<Dialog | null>(null)
  usePolling(data?.openchamiTarget?.isCheckPending ?? false, reload)
  const target = data?.openchamiTarget ?? null
  const body = () => {
    if (error && !data) return <Failure title={t('openchami.loadFailed')} message={toProblem(error).message} onRetry={reload} />
    if (!data) return <Skeleton className="h-48 w-full" />
    if (target) return <TargetView target={target} />
    return (
      <Empty
        icon={<ArrowLeftRight aria-hidden />}
        title={t('openchami.emptyTitle')}
        action={
          <Button variant="primary" blockedReason={blockedReason} onClick={() => setDialog('edit')}>
            {t('openchami.edit')}
          </Button>
        }
      >
        <p>{t('openchami.emptyText')}</p>
      </Empty>
    )
  }
  return (
    <>
      <PageHead title={t('openchami.title')} below={<p className="text-sm text-muted">{t('openchami.text')}</p>}>
        {target && <Actions target={target} onOpen={setDialog} reload={reload} />}
      </PageHead>
      {body()}
      {dialog === 'edit' && <TargetDialog target={target} onClose={() => setDialog(null)} onDone={reload} />}
      {dialog === 'push' && (
        <Confirm
          title={t('openchami.pushTitle')}
          action={t('openchami.push')}
          onConfirm={async () => {
            const outcome = await check.run({ mode: 'PUSH' })
            reload()
            return outcome
          }}
          onClose={() => setDialog(null)}
        >
          <p>{t('openchami.pushText')}</p>
        </Confirm>
      )}
      {dialog === 'remove' && (
        <Confirm
          title={t('openchami.removeTitle')}
          action={t('openchami.remove')}
          onConfirm={async () => {
            const outcome = await remove.run({})
            reload()
            return outcome
          }}
          onClose={() => setDialog(null)}
        >
          <p>{t('openchami.removeText')}</p>
        </Confirm>
      )}
    </>
  )
}
