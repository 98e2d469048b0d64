import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'

export const agentRevoke = () =>
  new Command('revoke')
    .description('let a key speak for nobody any more, from its next heartbeat on; it never comes back')
    .argument('<fingerprint>', 'SHA256:… of the key, as `muster agent list -o json` shows it')
    .requiredOption('--reason <text>', 'why; kept with the key')
    .action(async (fingerprint: string, { reason }: { reason: string }) => {
      const { revokeAgentKey } = await request(
        graphql(`mutation AgentRevoke($id: ID!, $reason: String!) {
          revokeAgentKey(id: $id, reason: $reason) {
            __typename ... on AgentKey { node { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id: await keyId(fingerprint), reason },
      )
      const { node } = orThrow(revokeAgentKey)
      process.stderr.write(`Revoked ${fingerprint}${node ? ` of ${node.name}` : ''}.\n`)
    })

const KEYS = graphql(`query AgentKeyIds($after: String) {
  agentKeys(first: 500, after: $after) { edges { node { id fingerprint } } pageInfo { hasNextPage endCursor } }
}`)

async function keyId(fingerprint: string): Promise<string> {
  let after: string | null = null
  do {
    const page: {
      agentKeys: {
        edges: { node: { id: string; fingerprint: string } }[]
        pageInfo: { hasNextPage: boolean; endCursor: string | null }
      }
    } = await request(KEYS, { after })
    const found = page.agentKeys.edges.find(({ node }) => node.fingerprint === fingerprint)
    if (found) return found.node.id
    after = page.agentKeys.pageInfo.hasNextPage ? page.agentKeys.pageInfo.endCursor : null
  } while (after)
  throw new CliError(`No key has the fingerprint ${fingerprint}. See \`muster agent list -o json\`.`, EXIT.notFound)
}
