import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { type Format, outputOption, printRows } from '../../output.ts'

const LIST = graphql(`query GroupList($after: String) {
  nodeGroups(first: 500, after: $after) {
    edges { node { id name displayName priority parent { name } memberQuery exclusiveSet nodeCount } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Row = ResultOf<typeof LIST>['nodeGroups']['edges'][number]['node']

export const groupList = () =>
  new Command('list')
    .description('groups of nodes')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      const rows: Row[] = []
      let after: string | null = null
      do {
        const page: ResultOf<typeof LIST> = await request(LIST, { after })
        rows.push(...page.nodeGroups.edges.map((e) => e.node))
        after = page.nodeGroups.pageInfo.hasNextPage ? page.nodeGroups.pageInfo.endCursor : null
      } while (after)
      printRows(
        rows,
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
