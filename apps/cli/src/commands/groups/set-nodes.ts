import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { groupId } from '../../lookup.ts'
import { count } from '../../output.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'

export const groupAddNodes = () => setNodes('add-nodes', 'add', 'add nodes to a group')
export const groupRemoveNodes = () => setNodes('remove-nodes', 'remove', 'remove nodes from a group')

const setNodes = (verb: string, how: 'add' | 'remove', description: string) =>
  new Command(verb)
    .description(description)
    .argument('<name>', 'name of the group')
    .argument('<selector>', SELECTOR_HELP)
    .action(async (name: string, selector: string) => {
      const [id, nodes] = [await groupId(name), await selectNodes(selector)]
      const { setNodeGroupMembers } = await request(
        graphql(`mutation GroupSetNodes($id: ID!, $add: [ID!], $remove: [ID!]) {
          setNodeGroupMembers(input: { id: $id, addNodeIds: $add, removeNodeIds: $remove }) {
            __typename ... on SetNodeGroupMembersPayload { nodeGroup { name nodeCount } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id, [how]: nodes.map((node) => node.id) },
      )
      const group = orThrow(setNodeGroupMembers).nodeGroup
      process.stderr.write(`${group.name} has ${count(group.nodeCount, 'node')}.\n`)
    })
