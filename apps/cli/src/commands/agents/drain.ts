import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from '../nodes/for-each-node.ts'

export const agentDrain = () =>
  new Command('drain')
    .description('drain nodes: no new work; DRAINED when the last job has ended')
    .argument('<selector>', SELECTOR_HELP)
    .requiredOption('--reason <text>', 'reason, shown with the node')
    .action(async (selector: string, { reason }: { reason: string }) =>
      forEachNode(
        await selectNodes(selector),
        async ({ id }) =>
          (
            await request(
              graphql(`mutation AgentDrain($nodeId: ID!, $reason: String!) {
                drainAgent(input: { nodeId: $nodeId, reason: $reason }) {
                  __typename ... on DrainAgentPayload { agent { state } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
                }
              }`),
              { nodeId: id, reason },
            )
          ).drainAgent,
        ({ agent }) => agent.state,
      ),
    )
