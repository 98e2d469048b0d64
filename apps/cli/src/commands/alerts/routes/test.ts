import { awaitDelivery } from '../../../await-delivery.ts'
import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { findRoute } from './fields.ts'

const DELIVERY = graphql(`query AlertDelivery($id: ID!) { node(id: $id) { ... on AlertDelivery { status lastError } } }`)

export const alertRouteTest = () =>
  new Command('test')
    .description('send a test message and wait for its delivery')
    .argument('<name>')
    .action(async (name: string) => {
      const { testAlertRoute } = await request(
        graphql(`mutation AlertRouteTest($id: ID!) {
          testAlertRoute(input: { id: $id }) { __typename ... on TestAlertRoutePayload { alertDelivery { id } } ... on Error { code message } }
        }`),
        { id: (await findRoute(name)).id },
      )
      const { id } = orThrow(testAlertRoute).alertDelivery
      await awaitDelivery(name, async () => {
        const { node } = await request(DELIVERY, { id })
        if (!node || !('status' in node) || node.status === 'PENDING') return null
        return { error: node.status === 'FAILED' ? (node.lastError ?? '') : null }
      })
    })
