import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from './for-each-node.ts'
import { previewNodeState } from './preview-node-state.ts'

export const nodeDecommission = () =>
  new Command('decommission')
    .description('decommission nodes, deregister their agents and resolve their alerts; their history is kept')
    .argument('<selector>', SELECTOR_HELP)
    .option('--preview', 'change nothing; print agents, alerts and runs of the nodes')
    .action(async (selector: string, { preview }: { preview?: true }) => {
      const nodes = await selectNodes(selector)
      if (preview) return previewNodeState(nodes, 'DECOMMISSION')
      await forEachNode(
        nodes,
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
      )
    })
