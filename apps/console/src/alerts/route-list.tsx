'use client'
import { useClient } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useDeliveryTest } from '@/graphql/use-delivery-test.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { ReceiverList } from '@/ui/receiver-list.tsx'
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

/** Notification routes. */
export function RouteList() {
  const list = useConnection('routes', RoutesQuery, {}, (data) => data.alertRoutes)
  const remove = useMutation(DeleteAlertRoute)
  const addBlockedReason = useBlockedReason('alert_route:write')
  return (
    <ReceiverList
      list={list}
      {...useTest()}
      addBlockedReason={addBlockedReason}
      remove={({ id }) => remove.run({ id })}
      texts={{
        add: t('routes.new'),
        loadFailed: t('routes.loadFailed'),
        emptyTitle: t('routes.emptyTitle'),
        emptyText: t('routes.emptyText'),
        deleteText: t('routes.deleteText'),
      }}
      badges={(route) => (
        <>
          <Badge>{t(`routeKind.${route.kind}`)}</Badge>
          {route.failingSince && <Badge tone="bad">{t('routes.failing')}</Badge>}
        </>
      )}
      details={(route) => (
        <>
          <span className="text-xs break-all text-muted">
            {route.kind === 'EMAIL' ? t('routes.mailTo', { to: route.to.join(', '), host: route.host ?? '' }) : route.origin}
          </span>
          <MatcherText matcher={route.matcher} />
          {route.failingSince && route.lastError && <p className="text-xs text-bad">{route.lastError}</p>}
        </>
      )}
      dialog={(route, props) => <RouteDialog route={route} {...props} />}
    />
  )
}
