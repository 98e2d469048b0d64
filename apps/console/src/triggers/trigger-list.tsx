'use client'
import { History, KeyRound, Pause, Pencil, Plus, Power, Trash2, Webhook } from 'lucide-react'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { DeliveryDialog, DeliveryResult } from './delivery-dialog.tsx'
import { DeleteTrigger, RotateTriggerSecret, type Trigger, TriggersQuery, TriggersUpdated, UpdateTrigger } from './documents.ts'
import { SecretDialog, type ShownSecret } from './secret-dialog.tsx'
import { TriggerDialog } from './trigger-dialog.tsx'

type Open = { kind: 'edit' | 'history' | 'rotate' | 'delete'; trigger: Trigger } | { kind: 'new' } | null

function Row({ trigger, onOpen, onToggle }: { trigger: Trigger; onOpen: (open: Open) => void; onToggle: () => void }) {
  const { name, url, template, limit, isEnabled, updateBlockedReason } = trigger
  const last = trigger.deliveries.edges[0]?.node
  return (
    <li className="flex flex-col gap-2 border-line px-4 py-3 text-sm not-first:border-t">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 className="font-medium wrap-anywhere">{name}</h3>
        <Badge>{t(`triggerSignature.${trigger.signature}`)}</Badge>
        {!isEnabled && <Badge>{t('schedule.disabled')}</Badge>}
        <span className="ml-auto flex items-center gap-3 text-xs text-muted">
          {last ? (
            <>
              <DeliveryResult delivery={last} /> <RelativeTime at={last.receivedAt} />
            </>
          ) : (
            t('trigger.noRequests')
          )}
        </span>
      </div>
      <p className="text-muted wrap-anywhere">
        {template.displayName} · <span className="font-mono text-xs">{limit}</span> ·{' '}
        {t('schedule.ownedBy', { name: trigger.owner.name })}
      </p>
      <div className="flex min-w-0 items-center gap-1">
        <code className="min-w-0 font-mono text-xs break-all text-muted">{url}</code>
        <CopyButton text={url} label={t('common.copy')} />
      </div>
      <div className="flex flex-wrap gap-2">
        <Button icon={<History aria-hidden />} onClick={() => onOpen({ kind: 'history', trigger })}>
          {t('trigger.history')}
        </Button>
        <Button
          icon={<Pencil aria-hidden />}
          blockedReason={updateBlockedReason}
          onClick={() => onOpen({ kind: 'edit', trigger })}
        >
          {t('schedule.edit')}
        </Button>
        <Button
          icon={isEnabled ? <Pause aria-hidden /> : <Power aria-hidden />}
          blockedReason={updateBlockedReason}
          onClick={onToggle}
        >
          {t(isEnabled ? 'schedule.disable' : 'schedule.enable')}
        </Button>
        <Button
          icon={<KeyRound aria-hidden />}
          blockedReason={updateBlockedReason}
          onClick={() => onOpen({ kind: 'rotate', trigger })}
        >
          {t('trigger.rotate')}
        </Button>
        <Button
          variant="danger"
          icon={<Trash2 aria-hidden />}
          blockedReason={updateBlockedReason}
          onClick={() => onOpen({ kind: 'delete', trigger })}
        >
          {t('schedule.delete')}
        </Button>
      </div>
    </li>
  )
}

/** Webhook triggers with their last request. */
export function TriggerList() {
  const list = useConnection('triggers', TriggersQuery, {}, (data) => data.triggers)
  useLive(TriggersUpdated, {}, ({ triggerUpdated }) => {
    if (!list.patch(triggerUpdated)) list.reloadDebounced()
  })
  const update = useMutation(UpdateTrigger)
  const rotate = useMutation(RotateTriggerSecret)
  const remove = useMutation(DeleteTrigger)
  const denied = useBlockedReason('trigger:write')
  const [open, setOpen] = useState<Open>(null)
  const [shown, setShown] = useState<ShownSecret | null>(null)
  const close = () => setOpen(null)
  const reload = () => void list.reload()
  async function toggle({ id, isEnabled }: Trigger) {
    const outcome = await update.run({ input: { id, isEnabled: !isEnabled } })
    if (!outcome.ok) toast('bad', outcome.problem.message)
    reload()
  }
  const add = (
    <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={denied} onClick={() => setOpen({ kind: 'new' })}>
      {t('trigger.new')}
    </Button>
  )
  return (
    <>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('trigger.loadFailed')} message={list.problem.message} onRetry={reload} />
      ) : list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={3} height={110} />
        </div>
      ) : list.rows.length === 0 ? (
        <Empty icon={<Webhook aria-hidden />} title={t('trigger.emptyTitle')} action={add}>
          <p>{t('trigger.emptyText')}</p>
        </Empty>
      ) : (
        <>
          <div className="flex flex-wrap items-center justify-between gap-3 pb-3">
            <p className="text-sm text-muted">{t('trigger.text')}</p>
            {add}
          </div>
          <ul className="rounded-lg border border-line bg-panel" aria-label={t('trigger.tab')}>
            {list.rows.map((trigger) => (
              <Row key={trigger.id} trigger={trigger} onOpen={setOpen} onToggle={() => void toggle(trigger)} />
            ))}
          </ul>
          {list.hasMore && (
            <div className="flex justify-center pt-4">
              <Button onClick={list.more}>{t('common.loadMore')}</Button>
            </div>
          )}
        </>
      )}
      {(open?.kind === 'new' || open?.kind === 'edit') && (
        <TriggerDialog
          trigger={open.kind === 'edit' ? open.trigger : null}
          onClose={close}
          onDone={(secret) => {
            close()
            setShown(secret)
            reload()
          }}
        />
      )}
      {open?.kind === 'history' && <DeliveryDialog trigger={open.trigger} onClose={close} />}
      {open?.kind === 'rotate' && (
        <Confirm
          title={t('trigger.rotateTitle', { name: open.trigger.name })}
          action={t('trigger.rotate')}
          onConfirm={async () => {
            const outcome = await rotate.run({ input: { id: open.trigger.id } })
            if (outcome.ok) setShown(outcome.value)
            return outcome
          }}
          onClose={close}
        >
          <p>{t('trigger.rotateText')}</p>
        </Confirm>
      )}
      {open?.kind === 'delete' && (
        <Confirm
          title={t('schedule.deleteTitle', { name: open.trigger.name })}
          action={t('schedule.delete')}
          onConfirm={async () => {
            const outcome = await remove.run({ input: { id: open.trigger.id } })
            if (outcome.ok) reload()
            return outcome
          }}
          onClose={close}
        >
          <p>{t('trigger.deleteText')}</p>
        </Confirm>
      )}
      {shown && <SecretDialog shown={shown} onClose={() => setShown(null)} />}
    </>
  )
}
