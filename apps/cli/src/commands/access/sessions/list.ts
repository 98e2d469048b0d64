import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'
import type { PasswordOptions } from '../sign-in.ts'
import { EMAIL, PASSWORD_STDIN, withSession } from './with-session.ts'

const LIST = graphql(`query SessionList($first: Int, $after: String) {
  sessions(first: $first, after: $after) {
    edges { node { id isCurrent device address createdAt lastUsedAt expiresAt } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const sessionList = () =>
  new Command('list')
    .description('list your sessions in browsers')
    .option(...EMAIL)
    .option(...PASSWORD_STDIN)
    .withOutput()
    .action(async (options: PasswordOptions & Output) => {
      const sessions = await withSession(options, (access) =>
        fetchAll(async (page) => (await request(LIST, page, access)).sessions),
      )
      printRows(
        // The session of this command ends with it.
        sessions.filter(({ isCurrent }) => !isCurrent),
        [
          { title: 'SESSION', value: ({ id }) => id },
          { title: 'DEVICE', value: ({ device }) => device ?? 'unknown' },
          { title: 'ADDRESS', value: ({ address }) => address ?? '' },
          { title: 'LAST USED', value: ({ lastUsedAt }) => ago(lastUsedAt) },
          { title: 'SIGNED IN', value: ({ createdAt }) => ago(createdAt), wide: true },
          { title: 'EXPIRES', value: ({ expiresAt }) => expiresAt, wide: true },
        ],
        options,
        'No sessions.',
      )
    })
