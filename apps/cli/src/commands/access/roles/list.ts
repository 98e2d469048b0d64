import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { printRows } from '../../../output.ts'

const LIST = graphql(`query RoleList { builtInRoles { role permissions } }`)

export const roleList = () =>
  new Command('list')
    .description('list roles with their permissions')
    .withOutput()
    .action(async (output: Output) => {
      const { builtInRoles } = await request(LIST, {})
      printRows(
        builtInRoles,
        [
          { title: 'ROLE', value: ({ role }) => role.toLowerCase() },
          { title: 'PERMISSIONS', value: ({ permissions }) => permissions.join(' ') },
        ],
        output,
        'No roles.',
      )
    })
