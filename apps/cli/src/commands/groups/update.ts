import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { groupId } from '../../lookup.ts'
import { count } from '../../output.ts'
import { type FieldOptions, fields, withFields } from './fields.ts'

export const groupUpdate = () =>
  withFields(
    new Command('update').description("change a group; '' clears a field").argument('<name>').option('--name <name>', 'new name'),
  ).action(async (name: string, { name: newName, ...options }: FieldOptions & { name?: string }) => {
    const { updateNodeGroup } = await request(
      graphql(`mutation GroupUpdate($id: ID!, $name: String, $displayName: String, $description: String, $kind: NodeGroupKind, $priority: Int, $parentId: ID, $memberQuery: String, $exclusiveSet: String, $isSystem: Boolean) {
        updateNodeGroup(input: { id: $id, name: $name, displayName: $displayName, description: $description, kind: $kind, priority: $priority, parentId: $parentId, memberQuery: $memberQuery, exclusiveSet: $exclusiveSet, isSystem: $isSystem }) {
          __typename ... on UpdateNodeGroupPayload { nodeGroup { name nodeCount } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
        }
      }`),
      { id: await groupId(name), ...(newName === undefined ? {} : { name: newName }), ...(await fields(options)) },
    )
    const group = orThrow(updateNodeGroup).nodeGroup
    process.stderr.write(`Updated ${group.name}; it has ${count(group.nodeCount, 'node')}.\n`)
  })
