import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printObject } from '../../output.ts'

const MANY = 500

export const groupGet = () =>
  new Command('get')
    .description('one group: where it hangs and which nodes are in it')
    .argument('<name>')
    .addOption(outputOption())
    .action(async (name: string, { output }: { output: Format }) => {
      const { nodeGroup: group } = await request(
        graphql(`query GroupGet($name: String!, $first: Int!) {
          nodeGroup(name: $name) {
            id name displayName description priority isSystem memberQuery exclusiveSet parent { name } children { name }
            nodeCount nodes(first: $first) { edges { node { name } } }
          }
        }`),
        { name, first: MANY },
      )
      if (!group) throw new CliError(`No group is called ${name}. See \`muster group list\`.`, EXIT.notFound)
      if (output !== 'table') return printObject(group, output)
      const names = group.nodes.edges.map((e) => e.node.name)
      const more = group.nodeCount - names.length
      printObject(group, output, [
        ['name', group.name],
        ['display name', group.displayName],
        ['description', group.description],
        ['priority', group.priority],
        ['below', group.parent?.name],
        ['above', group.children.map((child) => child.name).join(', ')],
        ['query', group.memberQuery],
        ['exclusive set', group.exclusiveSet],
        ['nodes', `${group.nodeCount}${names.length > 0 ? `: ${names.join(', ')}` : ''}${more > 0 ? ` and ${more} more` : ''}`],
      ])
    })
