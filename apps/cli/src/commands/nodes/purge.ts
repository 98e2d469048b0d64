import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { confirmNodes, YES_HELP } from '../../confirm.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP } from '../../selector.ts'
import { forEachNode } from './for-each-node.ts'

export const nodePurge = () =>
  new Command('purge')
    .description('delete decommissioned nodes permanently; runs keep their names and logs')
    .argument('<selector>', SELECTOR_HELP)
    .option('-y, --yes', YES_HELP)
    .action(async (selector: string, { yes }: { yes?: true }) =>
      forEachNode(
        await confirmNodes(selector, 'Delete', yes),
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
