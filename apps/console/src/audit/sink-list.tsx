'use client'
import { useClient } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useDeliveryTest } from '@/graphql/use-delivery-test.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { ReceiverList } from '@/ui/receiver-list.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
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

/** Receivers of audit entries with their delivery state. */
export function SinkList() {
  const list = useConnection('audit-sinks', SinksQuery, {}, (data) => data.auditSinks)
  const remove = useMutation(DeleteAuditSink)
  const addBlockedReason = useBlockedReason('audit:write')
  return (
    <ReceiverList
      list={list}
      {...useTest()}
      addBlockedReason={addBlockedReason}
      remove={({ id }) => remove.run({ id })}
      texts={{
        add: t('sinks.new'),
        loadFailed: t('sinks.loadFailed'),
        emptyTitle: t('sinks.emptyTitle'),
        emptyText: t('sinks.emptyText'),
        deleteText: t('sinks.deleteText'),
      }}
      badges={(sink) => (
        <>
          <Badge>{t(`sinkKind.${sink.kind}`)}</Badge>
          {sink.behindSince ? (
            <Badge tone="bad">{t('sinks.behindSince', { time: formatDateTime(sink.behindSince) })}</Badge>
          ) : (
            sink.failingSince && <Badge tone="warn">{t('routes.failing')}</Badge>
          )}
        </>
      )}
      details={(sink) => (
        <>
          <span className="text-xs break-all text-muted">{sink.origin ?? `${sink.host}:${sink.port}`}</span>
          <span className="text-xs text-muted">
            {t('sinks.deliveredAt')} <RelativeTime at={sink.deliveredAt} never={t('sinks.never')} />
          </span>
          {sink.lastError && <p className="text-xs [overflow-wrap:anywhere] text-bad">{sink.lastError}</p>}
          {sink.behindSince && <p className="text-xs text-muted">{t(sink.lastError ? 'sinks.nextStep' : 'sinks.noWorker')}</p>}
        </>
      )}
      dialog={(sink, props) => <SinkDialog sink={sink} {...props} />}
    />
  )
}
