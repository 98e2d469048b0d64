import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from './for-each-node.ts'

export const nodeRecommission = () =>
  new Command('recommission')
    .description('return decommissioned nodes to service; next step: `muster node test`')
    .argument('<selector>', SELECTOR_HELP)
    .action(async (selector: string) =>
      forEachNode(
        await selectNodes(selector),
        async ({ id }) =>
          (
            await request(
              graphql(`mutation NodeRecommission($id: ID!) {
                recommissionNode(input: { id: $id }) { __typename ... on RecommissionNodePayload { node { status } } ... on Error { code message } }
              }`),
              { id },
            )
          ).recommissionNode,
        ({ node }) => node.status,
      ),
    )
