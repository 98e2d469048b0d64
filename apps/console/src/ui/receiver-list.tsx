'use client'
import { Plus, Send } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { t } from '@/messages/index.ts'
import { Badge } from './badge.tsx'
import { Button } from './button.tsx'
import { Confirm } from './confirm.tsx'
import { Empty } from './empty.tsx'
import { Failure } from './failure.tsx'
import { SkeletonRows } from './skeleton.tsx'

type Receiver = { id: string; name: string; isEnabled: boolean; updateBlockedReason: string | null }

type Props<T extends Receiver> = {
  list: {
    rows: T[]
    isLoading: boolean
    problem: { message: string } | null
    reload: () => Promise<unknown>
    hasMore: boolean
    more: () => void
  }
  /** Shown when the list is empty. */
  icon?: ReactNode
  texts: { add: string; loadFailed: string; emptyTitle: string; emptyText: string; deleteText: string }
  addBlockedReason: string | null
  badges: (receiver: T) => ReactNode
  /** Where it delivers to, and the state of deliveries. */
  details: (receiver: T) => ReactNode
  dialog: (receiver: T | null, props: { onClose: () => void; onDone: () => void }) => ReactNode
  /** Missing for receivers without a test. */
  test?: (receiver: T) => Promise<unknown>
  /** ID of the receiver whose test is in progress. */
  testing?: string | null
  remove: (receiver: T) => Promise<{ ok: true } | { ok: false; problem: { message: string } }>
}

/** Other systems that Muster connects to, such as webhooks and secret stores: test, edit, delete and add. */
export function ReceiverList<T extends Receiver>(props: Props<T>) {
  const { list, texts, badges, details, test, icon = <Send aria-hidden /> } = props
  const [editing, setEditing] = useState<T | 'new' | null>(null)
  const [deleting, setDeleting] = useState<T | null>(null)
  const reload = () => void list.reload()
  const add = (
    <Button
      variant="primary"
      icon={<Plus aria-hidden />}
      blockedReason={props.addBlockedReason}
      onClick={() => setEditing('new')}
    >
      {texts.add}
    </Button>
  )
  return (
    <>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={texts.loadFailed} message={list.problem.message} onRetry={reload} />
      ) : list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={3} height={60} />
        </div>
      ) : list.rows.length === 0 ? (
        <Empty icon={icon} title={texts.emptyTitle} action={add}>
          <p>{texts.emptyText}</p>
        </Empty>
      ) : (
        <div className="flex flex-col gap-3">
          <div>{add}</div>
          <ul className="rounded-lg border border-line bg-panel">
            {list.rows.map((receiver) => (
              <li
                key={receiver.id}
                className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 text-sm last:border-0"
              >
                <div className="flex min-w-0 flex-1 basis-56 flex-col gap-1">
                  <div className="flex flex-wrap items-center gap-2">
                    <span className={receiver.isEnabled ? 'font-medium' : 'text-muted'}>{receiver.name}</span>
                    {!receiver.isEnabled && <Badge tone="neutral">{t('routes.off')}</Badge>}
                    {badges(receiver)}
                  </div>
                  {details(receiver)}
                </div>
                <div className="flex flex-wrap gap-2">
                  {test && (
                    <Button
                      icon={<Send aria-hidden />}
                      blockedReason={receiver.updateBlockedReason}
                      busy={props.testing === receiver.id}
                      onClick={() => void test(receiver).then(reload)}
                    >
                      {t('routes.test')}
                    </Button>
                  )}
                  <Button blockedReason={receiver.updateBlockedReason} onClick={() => setEditing(receiver)}>
                    {t('routes.edit')}
                  </Button>
                  <Button variant="danger" blockedReason={receiver.updateBlockedReason} onClick={() => setDeleting(receiver)}>
                    {t('routes.delete')}
                  </Button>
                </div>
              </li>
            ))}
          </ul>
          {list.hasMore && (
            <div className="flex justify-center">
              <Button onClick={list.more}>{t('common.loadMore')}</Button>
            </div>
          )}
        </div>
      )}
      {editing && props.dialog(editing === 'new' ? null : editing, { onClose: () => setEditing(null), onDone: reload })}
      {deleting && (
        <Confirm
          title={t('routes.deleteTitle', { name: deleting.name })}
          action={t('routes.delete')}
          onClose={() => setDeleting(null)}
          onConfirm={async () => {
            const outcome = await props.remove(deleting)
            if (outcome.ok) reload()
            return outcome
          }}
        >
          <p>{texts.deleteText}</p>
        </Confirm>
      )}
    </>
  )
}
