import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const LIST = graphql(`query GroupList($first: Int, $after: String) {
  nodeGroups(first: $first, after: $after) {
    edges { node { id name displayName priority parent { name } memberQuery exclusiveSet nodeCount } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const groupList = () =>
  new Command('list')
    .description('list groups')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await fetchAll(async (page) => (await request(LIST, page)).nodeGroups),
        [
          { title: 'NAME', value: (g) => g.name },
          { title: 'NODES', value: (g) => g.nodeCount },
          { title: 'PRIORITY', value: (g) => g.priority },
          { title: 'PARENT', value: (g) => g.parent?.name },
          { title: 'SET', value: (g) => g.exclusiveSet },
          { title: 'QUERY', value: (g) => g.memberQuery, wide: true },
        ],
        output,
        'No groups yet. Create one with `muster group create`.',
      )
    })
