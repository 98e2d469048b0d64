import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { ago, type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'
import { type Place, readScope, withPlace } from './scope.ts'

const SELECTION = graphql(`fragment VersionsOf on VariableScope @_unmask {
  versions(first: $first, after: $after) {
    edges { node { version createdAt createdByName reason text secretNames changes { name change before after isSecret } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

const HISTORY = graphql(
  `query VarsHistory($group: String!, $isGroup: Boolean!, $node: String!, $isNode: Boolean!, $isGlobal: Boolean!, $first: Int, $after: String) {
    nodeGroup(name: $group) @include(if: $isGroup) { vars { ...VersionsOf } }
    computeNode(name: $node) @include(if: $isNode) { vars { ...VersionsOf } }
    globalVars @include(if: $isGlobal) { ...VersionsOf }
  }`,
  [SELECTION],
)

export const varsHistory = () =>
  withPlace(new Command('history').description('who changed variables, when, why and how; the newest first'))
    .addOption(outputOption())
    .action(async ({ group, node, output }: Place & { output: Format }) => {
      await readScope({ ...(group ? { group } : {}), ...(node ? { node } : {}) })
      const place = {
        group: group ?? '',
        isGroup: group !== undefined,
        node: node ?? '',
        isNode: node !== undefined,
        isGlobal: !group && !node,
      }
      printRows(
        await rowsOf(async (page) => {
          const found = await request(HISTORY, { ...place, ...page })
          return (found.nodeGroup?.vars ?? found.computeNode?.vars ?? found.globalVars)?.versions
        }),
        [
          { title: 'VERSION', value: (each) => each.version },
          { title: 'WHEN', value: (each) => ago(each.createdAt) },
          { title: 'WHO', value: (each) => each.createdByName },
          { title: 'CHANGED', value: (each) => each.changes.map(change).join(' ') },
          { title: 'WHY', value: (each) => each.reason },
        ],
        output,
        'Never set.',
      )
    })

const SIGNS = { ADDED: '+', CHANGED: '~', REMOVED: '-' }
const change = (each: { name: string; change: keyof typeof SIGNS }) => `${SIGNS[each.change]}${each.name}`
