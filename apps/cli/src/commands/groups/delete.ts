import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { groupId } from '../../lookup.ts'

export const groupDelete = () =>
  new Command('delete')
    .description('delete a group and its variables, not its nodes')
    .argument('<name>')
    .action(async (name: string) => {
      const { deleteNodeGroup } = await request(
        graphql(`mutation GroupDelete($id: ID!) {
          deleteNodeGroup(input: { id: $id }) { __typename ... on DeleteNodeGroupPayload { deletedId } ... on Error { code message } }
        }`),
        { id: await groupId(name) },
      )
      orThrow(deleteNodeGroup)
      process.stderr.write(`Deleted ${name}.\n`)
    })
