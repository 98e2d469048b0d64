import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { printRows } from '../../../output.ts'

const METHODS = graphql(
  `query SignInMethods { signInMethods { kind name details { address redirectUri groupRoles { group tenant role } } } }`,
)

export const signInList = () =>
  new Command('list')
    .alias('ls')
    .description('list the sign-in methods, and the roles of groups of identity providers')
    .withOutput()
    .action(async (output: Output) => {
      const { signInMethods } = await request(METHODS, {})
      printRows(
        signInMethods,
        [
          { title: 'METHOD', value: ({ kind }) => kind.toLowerCase() },
          { title: 'NAME', value: ({ name }) => name ?? '-' },
          { title: 'ADDRESS', value: ({ details }) => details?.address ?? '-' },
          { title: 'REDIRECT URI', value: ({ details }) => details?.redirectUri ?? '-', wide: true },
          {
            title: 'GROUPS',
            value: ({ details }) =>
              details?.groupRoles
                .map(({ group, tenant, role }) => `${group}: ${role.toLowerCase()}${tenant ? ` of ${tenant}` : ''}`)
                .join(', ') || '-',
          },
        ],
        output,
        'No sign-in methods.',
      )
    })
