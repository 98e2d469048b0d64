import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { EMAIL, PASSWORD_STDIN, withSession } from '../sessions/with-session.ts'
import type { PasswordOptions } from '../sign-in.ts'

export const emailConfirm = () =>
  new Command('confirm')
    .description('change your email address with the link that was sent to it; sign in with the former address')
    .argument('<link>', 'the link of the email')
    .option(...EMAIL)
    .option(...PASSWORD_STDIN)
    .action(async (link: string, options: PasswordOptions) => {
      const token = new URLSearchParams(URL.parse(link)?.hash.slice(1)).get('token')
      if (!token) throw new CliError('Invalid link. The link in the email ends with /confirm-email#token=….', EXIT.usage)
      await withSession(options, async (access) => {
        const { confirmEmailChange } = await request(
          graphql(`mutation EmailConfirm($token: String!) {
            confirmEmailChange(input: { token: $token }) { __typename ... on ConfirmEmailChangePayload { viewer { user { email } } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
          }`),
          { token },
          access,
        )
        process.stderr.write(`You now sign in with ${orThrow(confirmEmailChange).viewer.user?.email}.\n`)
      })
    })
