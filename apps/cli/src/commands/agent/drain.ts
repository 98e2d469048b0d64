import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'

export const agentDrain = () =>
  new Command('drain')
    .description('let nodes get no more work; they are DRAINED when their last job has ended')
    .argument('<hostlist>', 'which nodes')
    .requiredOption('--reason <text>', 'why; whoever looks at a node reads it')
    .action(async (hostlist: string, { reason }: { reason: string }) => {
      for (const { id, name } of await nodeIds(hostlist)) {
        const { drainAgent } = await request(
          graphql(`mutation AgentDrain($nodeId: ID!, $reason: String!) {
            drainAgent(nodeId: $nodeId, reason: $reason) {
              __typename ... on Agent { state } ... on Error { code message } ... on InvalidInputError { issues { path message } }
            }
          }`),
          { nodeId: id, reason },
        )
        process.stderr.write(`${name} is ${orThrow(drainAgent).state}.\n`)
      }
    })
