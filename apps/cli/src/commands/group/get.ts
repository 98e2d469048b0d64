import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printObject } from '../../output.ts'
import { rowsOf } from '../../pages.ts'

const GROUP = graphql(`query GroupGet($name: String!) {
  nodeGroup(name: $name) {
    id name displayName description priority isSystem memberQuery exclusiveSet parent { name } children { name } nodeCount
  }
}`)
const NODES = graphql(`query GroupNodes($name: String!, $first: Int, $after: String) {
  nodeGroup(name: $name) { nodes(first: $first, after: $after) { edges { node { name } } pageInfo { hasNextPage endCursor } } }
}`)

export const groupGet = () =>
  new Command('get')
    .description('one group: where it hangs and which nodes are in it')
    .argument('<name>')
    .addOption(outputOption())
    .action(async (name: string, { output }: { output: Format }) => {
      const { nodeGroup: group } = await request(GROUP, { name })
      if (!group) throw new CliError(`No group is called ${name}. See \`muster group list\`.`, EXIT.notFound)
      const nodes = await rowsOf(async (page) => (await request(NODES, { name, ...page })).nodeGroup?.nodes)
      if (output !== 'table') return printObject({ ...group, nodes: { edges: nodes.map((node) => ({ node })) } }, output)
      printObject(group, output, [
        ['name', group.name],
        ['display name', group.displayName],
        ['description', group.description],
        ['priority', group.priority],
        ['below', group.parent?.name],
        ['above', group.children.map((child) => child.name).join(', ')],
        ['query', group.memberQuery],
        ['exclusive set', group.exclusiveSet],
        ['nodes', `${nodes.length}${nodes.length > 0 ? `: ${nodes.map((node) => node.name).join(', ')}` : ''}`],
      ])
    })
