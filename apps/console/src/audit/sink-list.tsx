'use client'
import { Plus, Send } from 'lucide-react'
import { useState } from 'react'
import { useClient } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useDeliveryTest } from '@/graphql/use-delivery-test.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { SinkDialog } from './sink-dialog.tsx'
import { DeleteAuditSink, type Sink, SinksQuery, SinkTestQuery, TestAuditSink } from './sink-documents.ts'

/** Sends a test entry and reports its delivery. */
function useTest() {
  const client = useClient()
  const mutation = useMutation(TestAuditSink)
  const stateOf = ({ id, isTestPending, testError }: Pick<Sink, 'id' | 'isTestPending' | 'testError'>) => ({
    id,
    isPending: isTestPending,
    error: testError,
  })
  return useDeliveryTest<Sink>(
    async ({ id }) => {
      const outcome = await mutation.run({ id })
      return outcome.ok ? { ok: true, value: stateOf(outcome.value.auditSink) } : outcome
    },
    async (id) => {
      const { data } = await client.query(SinkTestQuery, { id }, { requestPolicy: 'network-only' }).toPromise()
      return data?.node?.__typename === 'AuditSink' ? stateOf(data.node) : null
    },
  )
}

function SinkItem({
  sink,
  isTesting,
  onTest,
  onEdit,
  onDelete,
}: {
  sink: Sink
  isTesting: boolean
  onTest: () => void
  onEdit: () => void
  onDelete: () => void
}) {
  const blocked = sink.updateBlockedReason
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="flex min-w-0 flex-1 basis-56 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-2">
          <span className={sink.isEnabled ? 'font-medium' : 'text-muted'}>{sink.name}</span>
          <Badge>{t(`sinkKind.${sink.kind}`)}</Badge>
          {!sink.isEnabled && <Badge tone="neutral">{t('routes.off')}</Badge>}
          {sink.behindSince ? (
            <Badge tone="bad">{t('sinks.behindSince', { time: formatDateTime(sink.behindSince) })}</Badge>
          ) : (
            sink.failingSince && <Badge tone="warn">{t('routes.failing')}</Badge>
          )}
        </div>
        <span className="text-xs break-all text-muted">{sink.origin ?? `${sink.host}:${sink.port}`}</span>
        <span className="text-xs text-muted">
          {t('sinks.deliveredAt')} <RelativeTime at={sink.deliveredAt} never={t('sinks.never')} />
        </span>
        {sink.lastError && <p className="text-xs [overflow-wrap:anywhere] text-bad">{sink.lastError}</p>}
        {sink.behindSince && <p className="text-xs text-muted">{t(sink.lastError ? 'sinks.nextStep' : 'sinks.noWorker')}</p>}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button icon={<Send aria-hidden />} blockedReason={blocked} busy={isTesting} onClick={onTest}>
          {t('routes.test')}
        </Button>
        <Button blockedReason={blocked} onClick={onEdit}>
          {t('routes.edit')}
        </Button>
        <Button variant="danger" blockedReason={blocked} onClick={onDelete}>
          {t('routes.delete')}
        </Button>
      </div>
    </li>
  )
}

/** Receivers of audit entries with their delivery state. */
export function SinkList() {
  const list = useConnection('audit-sinks', SinksQuery, {}, (data) => data.auditSinks)
  const remove = useMutation(DeleteAuditSink)
  const blocked = useBlockedReason('audit:write')
  const { test, testing } = useTest()
  const [editing, setEditing] = useState<Sink | 'new' | null>(null)
  const [deleting, setDeleting] = useState<Sink | null>(null)
  const reload = () => void list.reload()
  const add = (
    <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={blocked} onClick={() => setEditing('new')}>
      {t('sinks.new')}
    </Button>
  )
  return (
    <>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('sinks.loadFailed')} message={list.problem.message} onRetry={reload} />
      ) : list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={3} height={60} />
        </div>
      ) : list.rows.length === 0 ? (
        <Empty icon={<Send aria-hidden />} title={t('sinks.emptyTitle')} action={add}>
          <p>{t('sinks.emptyText')}</p>
        </Empty>
      ) : (
        <div className="flex flex-col gap-3">
          <div>{add}</div>
          <ul className="rounded-lg border border-line bg-panel">
            {list.rows.map((sink) => (
              <SinkItem
                key={sink.id}
                sink={sink}
                isTesting={testing === sink.id}
                onTest={() => void test(sink).then(reload)}
                onEdit={() => setEditing(sink)}
                onDelete={() => setDeleting(sink)}
              />
            ))}
          </ul>
        </div>
      )}
      {editing && <SinkDialog sink={editing === 'new' ? null : editing} onClose={() => setEditing(null)} onDone={reload} />}
      {deleting && (
        <Confirm
          title={t('routes.deleteTitle', { name: deleting.name })}
          action={t('routes.delete')}
          onClose={() => setDeleting(null)}
          onConfirm={async () => {
            const outcome = await remove.run({ id: deleting.id })
            if (outcome.ok) reload()
            return outcome
          }}
        >
          <p>{t('sinks.deleteText')}</p>
        </Confirm>
      )}
    </>
  )
}
