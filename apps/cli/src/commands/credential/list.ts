import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { address, ago, type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'

const LIST = graphql(`query CredentialList($first: Int, $after: String) {
  credentials(first: $first, after: $after) {
    edges { node { id name kind description username host port publicKey secretsSet nodeCount lastUsedAt lastResult { isOk error at } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const credentialList = () =>
  new Command('list')
    .description('credentials; their secrets are never shown')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      printRows(
        await rowsOf(async (page) => (await request(LIST, page)).credentials),
        [
          { title: 'NAME', value: (c) => c.name },
          { title: 'KIND', value: (c) => c.kind },
          { title: 'USER', value: (c) => c.username },
          { title: 'HOST', value: (c) => c.host && address(c.host, c.port) },
          { title: 'SET', value: (c) => c.secretsSet.join(', ') },
          { title: 'NODES', value: (c) => c.nodeCount, spare: true },
          { title: 'TEST', value: (c) => c.lastResult && (c.lastResult.isOk ? 'ok' : 'FAILED'), spare: true },
          { title: 'USED', value: (c) => ago(c.lastUsedAt), spare: true },
        ],
        output,
        'There is no credential yet. Keep one with `muster credential add`.',
      )
    })
