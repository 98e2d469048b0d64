import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { groupId, nodeIds } from '../../ids.ts'

export const groupAddNodes = () => setNodes('add-nodes', 'add', 'put nodes into a group')
export const groupRemoveNodes = () => setNodes('remove-nodes', 'remove', 'take nodes out of a group')

const setNodes = (verb: string, how: 'add' | 'remove', description: string) =>
  new Command(verb)
    .description(description)
    .argument('<name>', 'the group')
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .action(async (name: string, hostlist: string) => {
      const [id, nodes] = [await groupId(name), await nodeIds(hostlist)]
      const { setNodeGroupMembers } = await request(
        graphql(`mutation GroupSetNodes($id: ID!, $add: [ID!], $remove: [ID!]) {
          setNodeGroupMembers(id: $id, add: $add, remove: $remove) {
            __typename ... on NodeGroup { name nodeCount } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id, [how]: nodes.map((node) => node.id) },
      )
      const group = orThrow(setNodeGroupMembers)
      process.stderr.write(`${group.nodeCount} nodes are in ${group.name} now.\n`)
    })
