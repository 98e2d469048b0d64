import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { count } from '../../output.ts'
import { type FieldOptions, fields, withFields } from './fields.ts'

export const groupCreate = () =>
  withFields(new Command('create').description('create a group').argument('<name>')).action(
    async (name: string, options: FieldOptions) => {
      const { createNodeGroup } = await request(
        graphql(`mutation GroupCreate($name: String!, $displayName: String, $description: String, $kind: NodeGroupKind, $priority: Int, $parentId: ID, $memberQuery: String, $exclusiveSet: String, $isSystem: Boolean) {
          createNodeGroup(input: { name: $name, displayName: $displayName, description: $description, kind: $kind, priority: $priority, parentId: $parentId, memberQuery: $memberQuery, exclusiveSet: $exclusiveSet, isSystem: $isSystem }) {
            __typename ... on CreateNodeGroupPayload { nodeGroup { name nodeCount } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { name, ...(await fields(options)) },
      )
      const group = orThrow(createNodeGroup).nodeGroup
      process.stderr.write(`Created ${group.name}${options.query ? ` with ${count(group.nodeCount, 'node')}` : ''}.\n`)
    },
  )
