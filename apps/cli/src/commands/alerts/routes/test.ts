import { setTimeout } from 'node:timers/promises'
import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { findRoute } from './fields.ts'

const POLL_MS = 500
/** Longer than the timeout of one delivery attempt. */
const TIMEOUT_MS = 90_000

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
      for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await setTimeout(POLL_MS)) {
        const { node } = await request(DELIVERY, { id })
        if (node && 'status' in node && node.status === 'DELIVERED') return void process.stderr.write(`Delivered to ${name}.\n`)
        if (node && 'status' in node && node.status === 'FAILED')
          throw new CliError(`Delivery to ${name} failed: ${node.lastError}`, EXIT.rejected)
      }
      throw new CliError('No worker has sent the message yet. See `muster worker list`.', EXIT.unavailable)
    })
