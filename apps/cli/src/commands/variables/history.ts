import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { readScope, type ScopeOptions, withScope } from './scope.ts'

const SELECTION = graphql(`fragment VersionsOf on VariableScope @_unmask {
  versions(first: $first, after: $after) {
    edges { node { version createdAt createdBy { name } reason text changes { name change before { json isSecret } after { json isSecret } } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

const HISTORY = graphql(
  `query VarsHistory($id: ID!, $isGlobal: Boolean!, $first: Int, $after: String) {
    node(id: $id) @skip(if: $isGlobal) {
      ... on NodeGroup { vars { ...VersionsOf } }
      ... on ComputeNode { vars { ...VersionsOf } }
    }
    globalVars @include(if: $isGlobal) { ...VersionsOf }
  }`,
  [SELECTION],
)

export const varsHistory = () =>
  withScope(new Command('history').description('list the versions of variables, newest first'))
    .withOutput()
    .action(async ({ group, node, ...output }: ScopeOptions & Output) => {
      const { ids } = await readScope({ ...(group ? { group } : {}), ...(node ? { node } : {}) })
      const id = ids.groupId ?? ids.nodeId
      printRows(
        await fetchAll(async (page) => {
          const { node: owner, globalVars } = await request(HISTORY, { id: id ?? '', isGlobal: id === undefined, ...page })
          return (owner && 'vars' in owner ? owner.vars : globalVars)?.versions
        }),
        [
          { title: 'VERSION', value: (each) => each.version },
          { title: 'CREATED', value: (each) => ago(each.createdAt) },
          { title: 'BY', value: (each) => each.createdBy.name },
          { title: 'CHANGES', value: (each) => each.changes.map(change).join(' ') },
          { title: 'REASON', value: (each) => each.reason },
        ],
        output,
        'No variables were set.',
      )
    })

const SIGNS = { ADDED: '+', CHANGED: '~', REMOVED: '-' }
const change = (each: { name: string; change: keyof typeof SIGNS }) => `${SIGNS[each.change]}${each.name}`
