import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from '../nodes/for-each-node.ts'

export const bmcRemove = () =>
  new Command('remove')
    .description('remove the BMCs of nodes, with what was read from them')
    .argument('<selector>', SELECTOR_HELP)
    .action(async (selector: string) => {
      await forEachNode(
        await selectNodes(selector),
        async ({ id }) => {
          const { removeNodeBmc } = await request(
            graphql(`mutation BmcRemove($input: RemoveNodeBmcInput!) {
              removeNodeBmc(input: $input) {
                __typename ... on RemoveNodeBmcPayload { node { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
              }
            }`),
            { input: { nodeId: id } },
          )
          return removeNodeBmc
        },
        () => 'BMC removed',
      )
    })
