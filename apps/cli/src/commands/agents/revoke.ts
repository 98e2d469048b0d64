import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { fetchAll } from '../../pages.ts'

export const agentRevoke = () =>
  new Command('revoke')
    .description('revoke the key of an agent permanently; its heartbeats are rejected from now on')
    .argument('<public-key>', 'public key or SHA256:… fingerprint, see `muster agent list -o json`')
    .requiredOption('--reason <text>', 'reason, kept with the key')
    .action(async (key: string, { reason }: { reason: string }) => {
      const { revokeAgentKey } = await request(
        graphql(`mutation AgentRevoke($id: ID!, $reason: String!) {
          revokeAgentKey(input: { id: $id, reason: $reason }) {
            __typename ... on RevokeAgentKeyPayload { agentKey { fingerprint node { name } } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id: await keyId(key), reason },
      )
      const { fingerprint, node } = orThrow(revokeAgentKey).agentKey
      process.stderr.write(`Revoked ${fingerprint}${node ? ` of ${node.name}` : ''}.\n`)
    })

const KEYS = graphql(`query AgentKeyIds($first: Int, $after: String) {
  agentKeys(first: $first, after: $after) { edges { node { id fingerprint publicKey } } pageInfo { hasNextPage endCursor } }
}`)

async function keyId(key: string): Promise<string> {
  const all = await fetchAll(async (page) => (await request(KEYS, page)).agentKeys)
  const found = all.find(({ fingerprint, publicKey }) => fingerprint === key || publicKey === key)
  if (!found) throw new CliError(`No key ${key}. See \`muster agent list -o json\`.`, EXIT.notFound)
  return found.id
}
