import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from './for-each-node.ts'

export const nodeDecommission = () =>
  new Command('decommission')
    .description('decommission nodes; their history is kept')
    .argument('<selector>', SELECTOR_HELP)
    .action(async (selector: string) =>
      forEachNode(
        await selectNodes(selector),
        async ({ id }) =>
          (
            await request(
              graphql(`mutation NodeDecommission($id: ID!) {
                decommissionNode(input: { id: $id }) { __typename ... on DecommissionNodePayload { node { status } } ... on Error { code message } }
              }`),
              { id },
            )
          ).decommissionNode,
        ({ node }) => node.status,
      ),
    )
