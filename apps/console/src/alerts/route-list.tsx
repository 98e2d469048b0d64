'use client'
import { Plus, Send } from 'lucide-react'
import { useState } from 'react'
import { useClient } from 'urql'
import { useConnection } from '@/graphql/use-connection.ts'
import { useDeliveryTest } from '@/graphql/use-delivery-test.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { MatcherText } from './matcher.tsx'
import { RouteDialog } from './route-dialog.tsx'
import { DeleteAlertRoute, DeliveryQuery, type Route, RoutesQuery, TestAlertRoute } from './route-documents.ts'

/** Sends a test notification and reports its delivery. */
function useTest() {
  const client = useClient()
  const mutation = useMutation(TestAlertRoute)
  const stateOf = ({ id, status, lastError }: { id: string; status: string; lastError: string | null }) => ({
    id,
    isPending: status === 'PENDING',
    error: status === 'FAILED' ? (lastError ?? t('error.unknown')) : null,
  })
  return useDeliveryTest<Route>(
    async ({ id }) => {
      const outcome = await mutation.run({ id })
      return outcome.ok ? { ok: true, value: stateOf(outcome.value.alertDelivery) } : outcome
    },
    async (id) => {
      const { data } = await client.query(DeliveryQuery, { id }, { requestPolicy: 'network-only' }).toPromise()
      return data?.node?.__typename === 'AlertDelivery' ? stateOf(data.node) : null
    },
  )
}

function RouteItem({
  route,
  isTesting,
  onTest,
  onEdit,
  onDelete,
}: {
  route: Route
  isTesting: boolean
  onTest: () => void
  onEdit: () => void
  onDelete: () => void
}) {
  const blocked = route.updateBlockedReason
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="flex min-w-0 flex-1 basis-56 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-2">
          <span className={route.isEnabled ? 'font-medium' : 'text-muted'}>{route.name}</span>
          <Badge>{t(`routeKind.${route.kind}`)}</Badge>
          {!route.isEnabled && <Badge tone="neutral">{t('routes.off')}</Badge>}
          {route.failingSince && <Badge tone="bad">{t('routes.failing')}</Badge>}
        </div>
        <span className="text-xs break-all text-muted">
          {route.kind === 'EMAIL' ? t('routes.mailTo', { to: route.to.join(', '), host: route.host ?? '' }) : route.origin}
        </span>
        <MatcherText matcher={route.matcher} />
        {route.failingSince && route.lastError && <p className="text-xs text-bad">{route.lastError}</p>}
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

/** Notification routes. */
export function RouteList() {
  const list = useConnection('routes', RoutesQuery, {}, (data) => data.alertRoutes)
  const remove = useMutation(DeleteAlertRoute)
  const { test, testing } = useTest()
  const [editing, setEditing] = useState<Route | 'new' | null>(null)
  const [deleting, setDeleting] = useState<Route | null>(null)
  const reload = () => void list.reload()
  const add = (
    <Button variant="primary" icon={<Plus aria-hidden />} onClick={() => setEditing('new')}>
      {t('routes.new')}
    </Button>
  )
  return (
    <>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('routes.loadFailed')} message={list.problem.message} onRetry={reload} />
      ) : list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={3} height={60} />
        </div>
      ) : list.rows.length === 0 ? (
        <Empty icon={<Send aria-hidden />} title={t('routes.emptyTitle')} action={add}>
          <p>{t('routes.emptyText')}</p>
        </Empty>
      ) : (
        <div className="flex flex-col gap-3">
          <div>{add}</div>
          <ul className="rounded-lg border border-line bg-panel">
            {list.rows.map((route) => (
              <RouteItem
                key={route.id}
                route={route}
                isTesting={testing === route.id}
                onTest={() => void test(route).then(reload)}
                onEdit={() => setEditing(route)}
                onDelete={() => setDeleting(route)}
              />
            ))}
          </ul>
        </div>
      )}
      {editing && <RouteDialog route={editing === 'new' ? null : editing} onClose={() => setEditing(null)} onDone={reload} />}
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
          <p>{t('routes.deleteText')}</p>
        </Confirm>
      )}
    </>
  )
}
