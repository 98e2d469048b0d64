import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'

const LIST = graphql(`query GroupList($first: Int, $after: String) {
  nodeGroups(first: $first, after: $after) {
    edges { node { id name displayName priority parent { name } memberQuery exclusiveSet nodeCount } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const groupList = () =>
  new Command('list')
    .description('groups of nodes')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      printRows(
        await rowsOf(async (page) => (await request(LIST, page)).nodeGroups),
        [
          { title: 'NAME', value: (g) => g.name },
          { title: 'NODES', value: (g) => g.nodeCount },
          { title: 'PRIORITY', value: (g) => g.priority },
          { title: 'PARENT', value: (g) => g.parent?.name },
          { title: 'SET', value: (g) => g.exclusiveSet },
          { title: 'QUERY', value: (g) => g.memberQuery, spare: true },
        ],
        output,
        'There is no group yet. Make one with `muster group create`.',
      )
    })
