import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'

export const agentAllow = () =>
  new Command('allow')
    .description('allow an agent to register with its key, without a token')
    .argument('<public-key>', 'public key in base64, as `muster-agent init` prints it')
    .argument('[selector]', `${ONE_NODE_HELP} (default: the first node that registers with the key)`)
    .option('--agent-id <name>', 'agent ID, if it differs from the node name')
    .option('--note <text>', 'note for other users')
    .action(async (publicKey: string, selector: string | undefined, { agentId, note }: { agentId?: string; note?: string }) => {
      const node = selector === undefined ? null : await selectNode(selector)
      const { allowAgentKey } = await request(
        graphql(`mutation AgentAllow($publicKey: String!, $nodeId: ID, $agentId: String, $note: String) {
          allowAgentKey(input: { publicKey: $publicKey, nodeId: $nodeId, agentId: $agentId, note: $note }) {
            __typename ... on AllowAgentKeyPayload { agentKey { fingerprint } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { publicKey, nodeId: node?.id ?? null, agentId: agentId ?? null, note: note ?? null },
      )
      process.stderr.write(`Allowed ${orThrow(allowAgentKey).agentKey.fingerprint}${node ? ` for ${node.name}` : ''}.\n`)
    })
