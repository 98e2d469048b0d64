import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import type { PasswordOptions } from '../sign-in.ts'
import { EMAIL, PASSWORD_STDIN, withSession } from './with-session.ts'

export const sessionEnd = () =>
  new Command('end')
    .description('end one or all of your sessions')
    .argument('[session]', 'ID of the session, see `muster session list`')
    .option('--all', 'end all sessions')
    .option(...EMAIL)
    .option(...PASSWORD_STDIN)
    .action(async (id: string | undefined, { all, ...options }: PasswordOptions & { all?: true }) => {
      if (Boolean(id) === Boolean(all)) throw new CliError('Give the ID of a session, or --all.', EXIT.usage)
      await withSession(options, async (access) => {
        if (id) {
          const { endSession } = await request(
            graphql(
              `mutation SessionEnd($id: ID!) { endSession(input: { id: $id }) { __typename ... on Error { code message } } }`,
            ),
            { id },
            access,
          )
          orThrow(endSession)
          process.stderr.write('Ended the session.\n')
          return
        }
        const { endOtherSessions } = await request(
          graphql(
            `mutation SessionsEnd { endOtherSessions { __typename ... on EndOtherSessionsPayload { endedCount } ... on Error { code message } } }`,
          ),
          {},
          access,
        )
        process.stderr.write(`Ended ${orThrow(endOtherSessions).endedCount} sessions.\n`)
      })
    })
