import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { address, ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const LIST = graphql(`query CredentialList($first: Int, $after: String) {
  credentials(first: $first, after: $after) {
    edges { node { id name kind description username host port publicKey secretsSet nodeCount lastUsedAt lastResult { isOk error testedAt } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const credentialList = () =>
  new Command('list')
    .description('list credentials, without secrets')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await fetchAll(async (page) => (await request(LIST, page)).credentials),
        [
          { title: 'NAME', value: (c) => c.name },
          { title: 'KIND', value: (c) => c.kind },
          { title: 'USER', value: (c) => c.username },
          { title: 'HOST', value: (c) => c.host && address(c.host, c.port) },
          { title: 'SECRETS', value: (c) => c.secretsSet.join(', ') },
          { title: 'NODES', value: (c) => c.nodeCount, wide: true },
          { title: 'TEST', value: (c) => c.lastResult && (c.lastResult.isOk ? 'ok' : 'FAILED'), wide: true },
          { title: 'LAST USED', value: (c) => ago(c.lastUsedAt), wide: true },
        ],
        output,
        'No credentials yet. Add one with `muster credential add`.',
      )
    })
