import { setTimeout } from 'node:timers/promises'
import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findRoute } from './fields.ts'

const LOOK_MS = 500
/** A worker tries at once and gives up sooner. */
const PATIENCE_MS = 90_000

const DELIVERY = graphql(`query AlertDelivery($id: ID!) { node(id: $id) { ... on AlertDelivery { status lastError } } }`)

export const alertRouteTest = () =>
  new Command('test')
    .description('send a test on a route and wait whether it is taken')
    .argument('<name>')
    .action(async (name: string) => {
      const { testAlertRoute } = await request(
        graphql(`mutation AlertRouteTest($id: ID!) {
          testAlertRoute(id: $id) { __typename ... on AlertDelivery { id } ... on Error { code message } }
        }`),
        { id: (await findRoute(name)).id },
      )
      const { id } = orThrow(testAlertRoute)
      for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await setTimeout(LOOK_MS)) {
        const { node } = await request(DELIVERY, { id })
        if (node && 'status' in node && node.status === 'DELIVERED') return void process.stderr.write(`${name} took it.\n`)
        if (node && 'status' in node && node.status === 'FAILED')
          throw new CliError(`${name} did not take it: ${node.lastError}`, EXIT.refused)
      }
      throw new CliError('No worker has sent it yet. See `muster worker list`.', EXIT.unavailable)
    })
