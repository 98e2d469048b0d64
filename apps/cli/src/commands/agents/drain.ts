import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from '../nodes/for-each-node.ts'
import { previewNodeState } from '../nodes/preview-node-state.ts'

export const agentDrain = () =>
  new Command('drain')
    .description('drain nodes, also in Slurm: no new jobs and changing runs; DRAINED when it is known that no job is left')
    .argument('<selector>', SELECTOR_HELP)
    .requiredOption('--reason <text>', 'reason, shown with the node')
    .option('--preview', 'change nothing; print running jobs, runs and clusters of the nodes')
    .action(async (selector: string, { reason, preview }: { reason: string; preview?: true }) => {
      const nodes = await selectNodes(selector)
      if (preview) return previewNodeState(nodes, 'DRAIN')
      await forEachNode(
        nodes,
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
      )
    })
