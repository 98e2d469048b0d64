import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { findRoute } from './fields.ts'

export const alertRouteDelete = () =>
  new Command('delete')
    .description('delete a route and its pending messages')
    .argument('<name>')
    .action(async (name: string) => {
      const { deleteAlertRoute } = await request(
        graphql(`mutation AlertRouteDelete($id: ID!) {
          deleteAlertRoute(input: { id: $id }) { __typename ... on DeleteAlertRoutePayload { deletedId } ... on Error { code message } }
        }`),
        { id: (await findRoute(name)).id },
      )
      orThrow(deleteAlertRoute)
      process.stderr.write(`Deleted ${name}.\n`)
    })
