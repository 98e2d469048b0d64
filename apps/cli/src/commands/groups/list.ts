import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { omitUndefined } from '../../options.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { groupKind } from './fields.ts'

const LIST = graphql(`query GroupList($filter: NodeGroupFilter, $first: Int, $after: String) {
  nodeGroups(filter: $filter, first: $first, after: $after) {
    edges { node { id name displayName kind priority parent { name } memberQuery exclusiveSet nodeCount } }
    pageInfo { hasNextPage endCursor }
  }
}`)

type Filter = { kind?: ReturnType<typeof groupKind>; set?: string; search?: string }

export const groupList = () =>
  new Command('list')
    .description('list groups')
    .option('--kind <kind>', 'only groups of this kind: ad-hoc, project, partition or job', groupKind)
    .option('--set <name>', 'only groups of this exclusive set')
    .option('--search <text>', 'only groups with this text in the name, display name, description or set')
    .withOutput()
    .action(async ({ kind, set, search, ...output }: Output & Filter) => {
      const filter = omitUndefined({ kind, exclusiveSet: set, text: search })
      printRows(
        await fetchAll(async (page) => (await request(LIST, { filter, ...page })).nodeGroups),
        [
          { title: 'NAME', value: (g) => g.name },
          { title: 'NODES', value: (g) => g.nodeCount },
          { title: 'KIND', value: (g) => g.kind },
          { title: 'PRIORITY', value: (g) => g.priority },
          { title: 'PARENT', value: (g) => g.parent?.name },
          { title: 'SET', value: (g) => g.exclusiveSet },
          { title: 'QUERY', value: (g) => g.memberQuery, wide: true },
        ],
        output,
        Object.keys(filter).length > 0 ? 'No group matches.' : 'No groups yet. Create one with `muster group create`.',
      )
    })
