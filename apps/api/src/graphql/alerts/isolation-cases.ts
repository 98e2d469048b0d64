import { createAlertRoute, createAlertSilence, testAlertRoute } from '@muster/core/alerts'
import { schema } from '@muster/core/registry'
import { expect } from 'vitest'
import { defineIsolation, NOT_FOUND } from '../../testing/isolation.ts'

export const isolation = defineIsolation({
  objects: async ({ t, tenant, node: { id: nodeId, tenantId } }) => {
    const values = { tenantId, nodeId, kind: 'stale' as const, severity: 'warning' as const, key: `node:${nodeId}` }
    const route = await createAlertRoute(tenant.admin, { name: 'theirs', kind: 'slack', url: 'https://hooks.test/' })
    const silence = { matcher: {}, reason: 'theirs', endsAt: new Date(Date.now() + 9e6) }
    return {
      Alert: (await t.runtime.db.insert(schema.alerts).values(values).returning())[0]!,
      AlertSilence: await createAlertSilence(tenant.operator, silence),
      AlertRoute: route,
      AlertDelivery: await testAlertRoute(tenant.admin, { id: route.id }),
    }
  },
  cases: {
    'Query.alertUpdateCursor': {
      query: () => '{ it: alertUpdateCursor }',
      answer: { it: expect.any(String) },
    },
    'Query.alerts': {
      query: ({ theirs }) =>
        `{ it: alerts { totalCount edges { node { id } } } again: alerts(filter: { nodeId: "${theirs.ComputeNode}" }) { totalCount } }`,
      answer: { it: { totalCount: 0, edges: [] }, again: { totalCount: 0 } },
    },
    'Mutation.acknowledgeAlerts': {
      query: ({ theirs }) =>
        `mutation { it: acknowledgeAlerts(input: { ids: ["${theirs.Alert}"], note: "mine" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.resolveAlertManually': {
      query: ({ theirs }) => `mutation { it: resolveAlertManually(input: { id: "${theirs.Alert}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Query.alertSilences': {
      query: () => '{ it: alertSilences(includeEnded: true) { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    'Query.alertRoutes': {
      query: () => '{ it: alertRoutes { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    // Names are unique per tenant, so the stranger creates an object of their own.
    'Mutation.createAlertSilence': {
      query: () => `mutation {
        it: createAlertSilence(input: { matcher: { clusters: ["theirs"] }, reason: "x", endsAt: "${new Date(Date.now() + 9e6).toISOString()}" }) { __typename }
      }`,
      answer: { it: { __typename: 'CreateAlertSilencePayload' } },
    },
    'Mutation.endAlertSilence': {
      query: ({ theirs }) => `mutation { it: endAlertSilence(input: { id: "${theirs.AlertSilence}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.createAlertRoute': {
      query: () =>
        'mutation { it: createAlertRoute(input: { name: "theirs", kind: SLACK, url: "https://x.test/" }) { __typename } }',
      answer: { it: { __typename: 'CreateAlertRoutePayload' } },
    },
    'Mutation.updateAlertRoute': {
      query: ({ theirs }) =>
        `mutation { it: updateAlertRoute(input: { id: "${theirs.AlertRoute}", name: "mine" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.deleteAlertRoute': {
      query: ({ theirs }) => `mutation { it: deleteAlertRoute(input: { id: "${theirs.AlertRoute}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.testAlertRoute': {
      query: ({ theirs }) => `mutation { it: testAlertRoute(input: { id: "${theirs.AlertRoute}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Subscription.alertUpdated': { query: ({ theirs }) => `subscription { alertUpdated(id: "${theirs.Alert}") { cursor } }` },
  },
})
