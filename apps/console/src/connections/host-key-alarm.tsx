'use client'
import { ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { ApproveHostKeys, type NodeRow, TestConnections } from '@/nodes/documents.ts'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { toast } from '@/ui/toast.tsx'
import { FingerprintCommands } from './fingerprint-commands.tsx'

type Props = { node: Pick<NodeRow, 'id' | 'name' | 'hostKeyAlarm'>; blockedReason: string | null }

/** Alarm for a new or changed host key; Muster does not connect until it is approved. */
export function HostKeyAlarm({ node, blockedReason }: Props) {
  const denied = useBlockedReason('node:approve_host_key')
  const approve = useMutation(ApproveHostKeys)
  const test = useMutation(TestConnections)
  const [isAsking, setAsking] = useState(false)
  const alarm = node.hostKeyAlarm
  if (!alarm) return null
  async function confirm() {
    if (!alarm) return { ok: true } as const
    const outcome = await approve.run({ approvals: [{ id: node.id, fingerprint: alarm.offeredFingerprint }] })
    if (!outcome.ok) return outcome
    toast('ok', t('hostKey.approved', { name: node.name }))
    void test.run({ nodeIds: [node.id] })
    return outcome
  }
  const isChanged = alarm.isChanged
  return (
    <section
      role="alert"
      className={
        isChanged
          ? 'mb-4 rounded-lg border border-bad-dot bg-bad-soft p-4'
          : 'mb-4 rounded-lg border border-warn-dot/60 bg-warn-soft p-4'
      }
    >
      <div className="flex flex-wrap items-start gap-3">
        <ShieldAlert className={isChanged ? 'size-5 text-bad' : 'size-5 text-warn'} aria-hidden />
        <div className="min-w-0 flex-1 basis-64">
          <h2 className={isChanged ? 'text-base font-semibold text-bad' : 'text-base font-semibold text-warn'}>
            {isChanged ? t('hostKey.changedTitle') : t('hostKey.newTitle')}
          </h2>
          <p className="mt-0.5 text-sm">{isChanged ? t('hostKey.changedText') : t('hostKey.newText')}</p>
          <div className="mt-3 [&_code]:font-mono [&_code]:text-xs [&_code]:break-all [&_dt]:text-text">
            <PropertyList
              rows={[
                ...(alarm.approvedFingerprint
                  ? [[t('hostKey.pinned'), <code key="p">{alarm.approvedFingerprint}</code>] as [string, React.ReactNode]]
                  : []),
                [t('hostKey.offered'), <code key="o">{alarm.offeredFingerprint}</code>],
                [t('hostKey.since'), <RelativeTime key="a" at={alarm.offeredAt} />],
              ]}
            />
          </div>
        </div>
        <Button
          variant={isChanged ? 'danger' : 'primary'}
          blockedReason={denied ?? blockedReason}
          onClick={() => setAsking(true)}
        >
          {isChanged ? t('hostKey.approveNew') : t('hostKey.approve')}
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title={t('hostKey.confirmTitle', { name: node.name })}
          action={t('hostKey.approve')}
          confirmText={isChanged ? node.name : undefined}
          onClose={() => setAsking(false)}
          onConfirm={confirm}
        >
          <p>{t('hostKey.confirmText')}</p>
          <code className="rounded-md bg-sunken p-2 font-mono text-xs break-all">{alarm.offeredFingerprint}</code>
          <FingerprintCommands />
        </Confirm>
      )}
    </section>
  )
}
