import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from '../nodes/for-each-node.ts'

export const agentResetSequence = () =>
  new Command('reset-sequence')
    .description('accept a restarted sequence from agents that lost their state; earlier heartbeats stay rejected')
    .argument('<selector>', SELECTOR_HELP)
    .action(async (selector: string) =>
      forEachNode(
        await selectNodes(selector),
        async ({ id }) =>
          (
            await request(
              graphql(`mutation AgentResetSequence($nodeId: ID!) {
                resetAgentSequence(input: { nodeId: $nodeId }) { __typename ... on ResetAgentSequencePayload { agent { state } } ... on Error { code message } }
              }`),
              { nodeId: id },
            )
          ).resetAgentSequence,
        () => 'sequence reset',
      ),
    )
