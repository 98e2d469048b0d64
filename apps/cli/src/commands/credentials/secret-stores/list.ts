import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'

const LIST = graphql(`query SecretStoreList($first: Int, $after: String) {
  secretStores(first: $first, after: $after) {
    edges { node { id name kind address namespace mount region auth roleId credentials(first: 100) { edges { node { name } } } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const secretStoreList = () =>
  new Command('list')
    .description('list secret stores and the credentials that use them')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await fetchAll(async (page) => (await request(LIST, page)).secretStores),
        [
          { title: 'NAME', value: (s) => s.name },
          { title: 'ADDRESS', value: (s) => s.address },
          { title: 'KIND', value: (s) => s.kind },
          { title: 'MOUNT', value: (s) => (s.namespace ? `${s.namespace}: ${s.mount}` : s.mount) },
          { title: 'REGION', value: (s) => s.region, wide: true },
          { title: 'AUTH', value: (s) => s.auth },
          { title: 'CREDENTIALS', value: (s) => s.credentials.edges.map(({ node }) => node.name).join(', '), wide: true },
        ],
        output,
        'No secret stores. Add one with `muster secret-store add`.',
      )
    })
