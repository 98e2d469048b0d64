import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { rowsOf } from '../../pages.ts'

export const agentRevoke = () =>
  new Command('revoke')
    .description('let a key speak for nobody any more, from its next heartbeat on; it never comes back')
    .argument('<public-key>', 'or its SHA256:…, as `muster agent list -o json` shows them')
    .requiredOption('--reason <text>', 'why; kept with the key')
    .action(async (key: string, { reason }: { reason: string }) => {
      const { revokeAgentKey } = await request(
        graphql(`mutation AgentRevoke($id: ID!, $reason: String!) {
          revokeAgentKey(id: $id, reason: $reason) {
            __typename ... on AgentKey { fingerprint node { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id: await keyId(key), reason },
      )
      const { fingerprint, node } = orThrow(revokeAgentKey)
      process.stderr.write(`Revoked ${fingerprint}${node ? ` of ${node.name}` : ''}.\n`)
    })

const KEYS = graphql(`query AgentKeyIds($first: Int, $after: String) {
  agentKeys(first: $first, after: $after) { edges { node { id fingerprint publicKey } } pageInfo { hasNextPage endCursor } }
}`)

async function keyId(key: string): Promise<string> {
  const all = await rowsOf(async (page) => (await request(KEYS, page)).agentKeys)
  const found = all.find(({ fingerprint, publicKey }) => fingerprint === key || publicKey === key)
  if (!found) throw new CliError(`There is no key ${key}. See \`muster agent list -o json\`.`, EXIT.notFound)
  return found.id
}
