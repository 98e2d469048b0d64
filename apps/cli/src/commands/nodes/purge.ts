import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP } from '../../selector.ts'
import { forEachNode } from './for-each-node.ts'

export const nodePurge = () =>
  new Command('purge')
    .description('delete decommissioned nodes permanently; runs keep their names and logs')
    .argument('<selector>', SELECTOR_HELP)
    .action((selector: string) =>
      forEachNode(
        selector,
        async ({ id }) =>
          (
            await request(
              graphql(`mutation NodePurge($id: ID!) {
                purgeNode(input: { id: $id }) { __typename ... on PurgeNodePayload { deletedId } ... on Error { code message } }
              }`),
              { id },
            )
          ).purgeNode,
        () => 'deleted',
      ),
    )
