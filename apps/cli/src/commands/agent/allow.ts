import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeIdOf } from '../../ids.ts'

export const agentAllow = () =>
  new Command('allow')
    .description('put the public key of an agent on the list of those that may register without a token')
    .argument('<public-key>', 'in base64, as `muster-agent init` prints it')
    .argument('[node]', 'the node that it speaks for; left out: the one that first registers with it')
    .option('--agent-id <name>', 'what its agent calls itself, where that is not the name of the node')
    .option('--note <text>', 'what is to be known about it')
    .action(async (publicKey: string, node: string | undefined, { agentId, note }: { agentId?: string; note?: string }) => {
      const { allowAgentKey } = await request(
        graphql(`mutation AgentAllow($publicKey: String!, $nodeId: ID, $agentId: String, $note: String) {
          allowAgentKey(publicKey: $publicKey, nodeId: $nodeId, agentId: $agentId, note: $note) {
            __typename ... on AgentKey { fingerprint } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { publicKey, nodeId: node ? await nodeIdOf(node) : null, agentId: agentId ?? null, note: note ?? null },
      )
      process.stderr.write(`Allowed ${orThrow(allowAgentKey).fingerprint}${node ? ` for ${node}` : ''}.\n`)
    })
