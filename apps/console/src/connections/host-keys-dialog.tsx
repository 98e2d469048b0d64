'use client'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { ApproveHostKeys } from '@/nodes/documents.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'
import { FingerprintCommands } from './fingerprint-commands.tsx'
import type { KeyToApprove } from './keys-to-approve.ts'

/** Approves host keys. No key is preselected. One checkbox selects all new keys; changed keys are selected one by one. */
export function HostKeysDialog({
  keys,
  onClose,
  onApproved,
}: {
  keys: KeyToApprove[]
  onClose: () => void
  onApproved: () => void
}) {
  const mutation = useMutation(ApproveHostKeys)
  const blocked = useBlockedReason('node:approve_host_key')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  async function approve() {
    const outcome = await mutation.run({
      approvals: keys.filter((key) => chosen.has(key.id)).map(({ id, fingerprint }) => ({ id, fingerprint })),
    })
    if (outcome.ok) onApproved()
  }
  function toggle(id: string) {
    setChosen((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  }
  const fresh = keys.filter((key) => !key.isChanged)
  const isAll = fresh.every((key) => chosen.has(key.id))
  function toggleAll() {
    setChosen((before) => {
      const next = new Set(before)
      for (const { id } of fresh) isAll ? next.delete(id) : next.add(id)
      return next
    })
  }
  return (
    <Dialog
      wide
      title={t('hostKey.dialogTitle')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            showReason
            busy={mutation.busy}
            blockedReason={blocked ?? (chosen.size === 0 ? t('hostKey.chooseOne') : null)}
            onClick={() => void approve()}
          >
            {t('hostKey.approveCount', { count: chosen.size })}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <p className="text-sm text-muted">{t('hostKey.dialogText')}</p>
        <FingerprintCommands />
        {keys.some((key) => key.isBastion) && <Notice>{t('hostKey.bastionFirst')}</Notice>}
        {mutation.problem && <Notice tone="bad">{mutation.problem.message}</Notice>}
        {fresh.length > 1 && (
          <label className="flex items-center gap-2 px-3 text-sm font-medium">
            <input type="checkbox" className="size-4 accent-accent" checked={isAll} onChange={toggleAll} />
            {t('hostKey.allNew', { count: fresh.length })}
          </label>
        )}
        <ul className="rounded-lg border border-line">
          {keys.map((key) => (
            <li key={`${key.id} ${key.fingerprint}`} className="border-b border-line last:border-0">
              <label className="flex cursor-pointer items-start gap-2.5 px-3 py-2 hover:bg-hover">
                <input
                  type="checkbox"
                  className="mt-0.5 size-4 accent-accent"
                  checked={chosen.has(key.id)}
                  onChange={() => toggle(key.id)}
                />
                <span className="min-w-0 flex-1">
                  <span className="flex flex-wrap items-center gap-2 text-sm">
                    <span className="font-mono font-medium">{key.name}</span>
                    {key.isBastion && <Badge tone="accent">{t('node.bastion')}</Badge>}
                    {key.isBastion && (
                      <span className="text-xs text-muted">{t('hostKey.nodesBehind', { count: key.nodes })}</span>
                    )}
                    {key.isChanged && <Badge tone="bad">{t('hostKey.changedShort')}</Badge>}
                  </span>
                  <code className="block font-mono text-xs break-all text-muted">{key.fingerprint}</code>
                </span>
              </label>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  )
}
