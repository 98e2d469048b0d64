import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'

export const agentResetSequence = () =>
  new Command('reset-sequence')
    .description('let agents that forgot their sequence count anew; what they sent before stays refused')
    .argument('<hostlist>', 'which nodes')
    .action(async (hostlist: string) => {
      for (const { id, name } of await nodeIds(hostlist)) {
        const { resetAgentSequence } = await request(
          graphql(`mutation AgentResetSequence($nodeId: ID!) {
            resetAgentSequence(nodeId: $nodeId) { __typename ... on Agent { state } ... on Error { code message } }
          }`),
          { nodeId: id },
        )
        orThrow(resetAgentSequence)
        process.stderr.write(`${name} may count anew.\n`)
      }
    })
