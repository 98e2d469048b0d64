import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { groupNotFound } from '../../lookup.ts'
import { isTable, printObject } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const GROUP = graphql(`query GroupGet($name: String!) {
  nodeGroup(name: $name) {
    id name displayName description kind priority isSystem memberQuery exclusiveSet parent { name } children(first: 500) { edges { node { name } } } nodeCount
  }
}`)
const NODES = graphql(`query GroupNodes($name: String!, $first: Int, $after: String) {
  nodeGroup(name: $name) { nodes(first: $first, after: $after) { edges { node { name } } pageInfo { hasNextPage endCursor } } }
}`)

export const groupGet = () =>
  new Command('get')
    .description('show one group: parent, children and nodes')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const { nodeGroup: group } = await request(GROUP, { name })
      if (!group) throw groupNotFound(name)
      const nodes = await fetchAll(async (page) => (await request(NODES, { name, ...page })).nodeGroup?.nodes)
      if (!isTable(output)) return printObject({ ...group, nodes: { edges: nodes.map((node) => ({ node })) } }, output)
      printObject(group, output, [
        ['name', group.name],
        ['display name', group.displayName],
        ['description', group.description],
        ['kind', group.kind],
        ['priority', group.priority],
        ['parent', group.parent?.name],
        ['children', group.children.edges.map(({ node }) => node.name).join(', ')],
        ['query', group.memberQuery],
        ['exclusive set', group.exclusiveSet],
        ['system', group.isSystem ? 'yes' : null],
        ['nodes', `${nodes.length}${nodes.length > 0 ? `: ${nodes.map((node) => node.name).join(', ')}` : ''}`],
      ])
    })
