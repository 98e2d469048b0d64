import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeId } from '../../lookup.ts'

export const agentDeregister = () =>
  new Command('deregister')
    .description('deregister an agent and revoke its keys; the node can be enrolled again with a new key')
    .argument('<node>', 'node name')
    .option('--reason <text>', 'reason, kept in the history')
    .action(async (node: string, { reason }: { reason?: string }) => {
      const { deregisterAgent } = await request(
        graphql(`mutation AgentDeregister($nodeId: ID!, $reason: String) {
          deregisterAgent(input: { nodeId: $nodeId, reason: $reason }) {
            __typename ... on DeregisterAgentPayload { agent { agentId } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { nodeId: await nodeId(node), reason: reason ?? null },
      )
      process.stderr.write(`Deregistered ${orThrow(deregisterAgent).agent.agentId}.\n`)
    })
