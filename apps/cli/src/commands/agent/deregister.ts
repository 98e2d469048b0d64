import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeIdOf } from '../../ids.ts'

export const agentDeregister = () =>
  new Command('deregister')
    .description('end an agent for good: its keys are revoked; the node may be enrolled again, with a new key')
    .argument('<node>')
    .option('--reason <text>', 'why')
    .action(async (node: string, { reason }: { reason?: string }) => {
      const { deregisterAgent } = await request(
        graphql(`mutation AgentDeregister($nodeId: ID!, $reason: String) {
          deregisterAgent(nodeId: $nodeId, reason: $reason) {
            __typename ... on Agent { agentId } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { nodeId: await nodeIdOf(node), reason: reason ?? null },
      )
      process.stderr.write(`The agent ${orThrow(deregisterAgent).agentId} is deregistered.\n`)
    })
