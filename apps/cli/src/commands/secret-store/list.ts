import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'

const LIST = graphql(`query SecretStoreList($first: Int, $after: String) {
  secretStores(first: $first, after: $after) {
    edges { node { id name address namespace mount auth roleId credentials { name } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const secretStoreList = () =>
  new Command('list')
    .description('secret stores, and which credentials keep secrets in them')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      printRows(
        await rowsOf(async (page) => (await request(LIST, page)).secretStores),
        [
          { title: 'NAME', value: (s) => s.name },
          { title: 'ADDRESS', value: (s) => s.address },
          { title: 'MOUNT', value: (s) => (s.namespace ? `${s.namespace}: ${s.mount}` : s.mount) },
          { title: 'AUTH', value: (s) => s.auth },
          { title: 'CREDENTIALS', value: (s) => s.credentials.map((c) => c.name).join(', '), spare: true },
        ],
        output,
        'There is no secret store. Make one known with `muster secret-store add`.',
      )
    })
