import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { forEachNode } from '../nodes/for-each-node.ts'

export const agentResume = () =>
  new Command('resume')
    .description('end a drain; nodes drained by Slurm stay drained until Slurm resumes them')
    .argument('<selector>', SELECTOR_HELP)
    .action(async (selector: string) =>
      forEachNode(
        await selectNodes(selector),
        async ({ id }) =>
          (
            await request(
              graphql(`mutation AgentResume($nodeId: ID!) {
                resumeAgent(input: { nodeId: $nodeId }) { __typename ... on ResumeAgentPayload { agent { state } } ... on Error { code message } }
              }`),
              { nodeId: id },
            )
          ).resumeAgent,
        ({ agent }) => agent.state,
      ),
    )
