import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { printRows } from '../../../output.ts'

const LIST = graphql(`query RoleList { roles { name isBuiltIn description permissions } }`)

export const roleList = () =>
  new Command('list')
    .description('list roles with their permissions')
    .withOutput()
    .action(async (output: Output) => {
      const { roles } = await request(LIST, {})
      printRows(
        roles,
        [
          { title: 'ROLE', value: ({ name }) => name },
          { title: 'KIND', value: ({ isBuiltIn }) => (isBuiltIn ? 'built-in' : 'custom') },
          { title: 'DESCRIPTION', value: ({ description }) => description, wide: true },
          { title: 'PERMISSIONS', value: ({ permissions }) => permissions.join(' ') },
        ],
        output,
        'No roles.',
      )
    })
