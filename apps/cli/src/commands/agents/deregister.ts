import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { confirmNodes, YES_HELP } from '../../confirm.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP } from '../../selector.ts'
import { forEachNode } from '../nodes/for-each-node.ts'

export const agentDeregister = () =>
  new Command('deregister')
    .description('deregister agents and revoke their keys; the nodes can be enrolled again with new keys')
    .argument('<selector>', SELECTOR_HELP)
    .option('--reason <text>', 'reason, kept in the history')
    .option('-y, --yes', YES_HELP)
    .action(async (selector: string, { reason, yes }: { reason?: string; yes?: true }) =>
      forEachNode(
        await confirmNodes(selector, 'Deregister the agents of', yes),
        async ({ id }) =>
          (
            await request(
              graphql(`mutation AgentDeregister($nodeId: ID!, $reason: String) {
                deregisterAgent(input: { nodeId: $nodeId, reason: $reason }) {
                  __typename ... on DeregisterAgentPayload { agent { state } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
                }
              }`),
              { nodeId: id, reason: reason ?? null },
            )
          ).deregisterAgent,
        ({ agent }) => agent.state,
      ),
    )
