import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from './for-each-node.ts'

export const nodeMaintenance = () =>
  new Command('maintenance')
    .description('start or end maintenance; runs skip nodes in maintenance')
    .argument('<selector>', SELECTOR_HELP)
    .option('--end', 'end maintenance')
    .action(async (selector: string, { end }: { end?: true }) =>
      forEachNode(
        await selectNodes(selector),
        async ({ id }) =>
          (
            await request(
              graphql(`mutation NodeMaintenance($id: ID!, $enabled: Boolean!) {
                setNodeMaintenance(input: { id: $id, enabled: $enabled }) { __typename ... on SetNodeMaintenancePayload { node { status } } ... on Error { code message } }
              }`),
              { id, enabled: !end },
            )
          ).setNodeMaintenance,
        ({ node }) => node.status,
      ),
    )
