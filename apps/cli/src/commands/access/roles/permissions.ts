import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { printRows } from '../../../output.ts'

const LIST = graphql(`query PermissionList { permissions { name description isPerNode isPerCluster roles blockedReason } }`)

export const rolePermissions = () =>
  new Command('permissions')
    .description('list all permissions, which roles include them, and whether you hold them')
    .withOutput()
    .action(async (output: Output) => {
      const { permissions } = await request(LIST, {})
      printRows(
        permissions,
        [
          { title: 'PERMISSION', value: ({ name }) => name },
          { title: 'YOURS', value: ({ blockedReason }) => (blockedReason ? 'no' : 'yes') },
          {
            title: 'GRANTS',
            value: ({ isPerNode, isPerCluster }) => (isPerNode ? 'node' : isPerCluster ? 'cluster' : null),
            wide: true,
          },
          { title: 'ROLES', value: ({ roles }) => roles.join(' ') || 'installation administrator' },
          { title: 'ALLOWS', value: ({ description }) => description },
        ],
        output,
        'No permissions.',
      )
    })
