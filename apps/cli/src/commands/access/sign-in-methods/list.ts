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
    .description('list the ways to sign in, and which groups of identity providers have roles')
    .withOutput()
    .action(async (output: Output) => {
      const { signInMethods } = await request(METHODS, {})
      printRows(
        signInMethods,
        [
          { title: 'METHOD', value: ({ kind }) => kind.toLowerCase() },
          { title: 'NAME', value: ({ name }) => name ?? '-' },
          { title: 'ADDRESS', value: ({ details }) => details?.address ?? '-' },
          { title: 'RETURNS TO', value: ({ details }) => details?.redirectUri ?? '-', wide: true },
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
