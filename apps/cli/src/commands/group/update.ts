import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { groupId } from '../../ids.ts'
import { type FieldOptions, fields, withFields } from './fields.ts'

export const groupUpdate = () =>
  withFields(
    new Command('update')
      .description("change a group; an option given as '' takes away")
      .argument('<name>')
      .option('--name <name>', 'another name'),
  ).action(async (name: string, { name: newName, ...options }: FieldOptions & { name?: string }) => {
    const { updateNodeGroup } = await request(
      graphql(`mutation GroupUpdate($id: ID!, $name: String, $displayName: String, $description: String, $priority: Int, $parentId: ID, $memberQuery: String, $exclusiveSet: String) {
        updateNodeGroup(id: $id, name: $name, displayName: $displayName, description: $description, priority: $priority, parentId: $parentId, memberQuery: $memberQuery, exclusiveSet: $exclusiveSet) {
          __typename ... on NodeGroup { name nodeCount } ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      { id: await groupId(name), ...(newName === undefined ? {} : { name: newName }), ...(await fields(options)) },
    )
    const group = orThrow(updateNodeGroup)
    process.stderr.write(`Changed ${group.name}; ${group.nodeCount} nodes are in it.\n`)
  })
