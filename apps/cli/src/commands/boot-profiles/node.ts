import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { isTable, printObject, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { SELECTOR_HELP, selectNodes, selectorFilter } from '../../selector.ts'
import { RESOLVED, resolvedLines } from './read.ts'

const EFFECTIVE = graphql(
  `query NodeBootProfile($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) {
    edges { node {
      name
      effectiveBootProfile {
        reason
        candidates { source { name version } target groupName priority isAddition lostReason }
        resolved { ...ResolvedOf }
      }
    } }
    pageInfo { hasNextPage endCursor }
  }
}`,
  [RESOLVED],
)

/** More nodes at once would exceed the cost limit of an operation. */
const PAGE = 20

const TARGETS = { NODE: 'node', GROUP: 'group', ALL_NODES: 'all nodes', UNKNOWN_MACHINES: 'unknown machines' }
type Candidate = { target: keyof typeof TARGETS; groupName: string | null; priority: number }
const through = ({ target, groupName, priority }: Candidate): string =>
  `${TARGETS[target]}${groupName ? ` ${groupName}` : ''} (priority ${priority})`

export const nodeBootProfile = () =>
  new Command('boot-profile')
    .description('show which boot profile nodes boot, through which assignment, and why others lost')
    .argument('<selector>', SELECTOR_HELP)
    .withOutput()
    .action(async (selector: string, output: Output) => {
      await selectNodes(selector)
      const nodes = await fetchAll(
        async ({ after }) => (await request(EFFECTIVE, { filter: selectorFilter(selector), first: PAGE, after })).nodes,
      )
      const [node] = nodes
      if (nodes.length !== 1 || !node || !isTable(output))
        return printRows(
          nodes,
          [
            { title: 'NODE', value: (each) => each.name },
            { title: 'PROFILE', value: (each) => each.effectiveBootProfile.resolved?.source.name },
            { title: 'VERSION', value: (each) => each.effectiveBootProfile.resolved?.source.version },
            {
              title: 'THROUGH',
              value: ({ effectiveBootProfile: { resolved, candidates } }) => resolved && candidates[0] && through(candidates[0]),
            },
            {
              title: 'ADDED',
              value: ({ effectiveBootProfile: { candidates } }) =>
                candidates.flatMap(({ isAddition, source }) => (isAddition ? [source.name] : [])).join(', '),
            },
            {
              title: 'PROBLEM',
              value: ({ effectiveBootProfile: { reason, resolved } }) => reason ?? resolved?.problems.join(' '),
            },
          ],
          output,
        )
      const { reason, resolved, candidates } = node.effectiveBootProfile
      const [winner] = candidates
      printObject(node, output, [
        ['node', node.name],
        ['profile', resolved ? `${resolved.source.name}, version ${resolved.source.version}` : null],
        ...(reason ? ([['reason', reason]] as [string, string][]) : []),
        ...(resolved && winner ? ([['through', through(winner)]] as [string, string][]) : []),
        ...(resolved ? resolvedLines(resolved) : []),
        ...candidates.flatMap((each): [string, string][] =>
          each.isAddition ? [['added', `${each.source.name}, version ${each.source.version}, ${through(each)}`]] : [],
        ),
        ...candidates.flatMap((each): [string, string][] =>
          each.lostReason ? [['lost', `${each.source.name}, ${through(each)}: ${each.lostReason}`]] : [],
        ),
      ])
    })
