import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { prompt, readStdin } from '../../../prompt.ts'
import { readSettings } from '../../../settings.ts'
import { EMAIL, PASSWORD_STDIN } from '../sessions/with-session.ts'
import { type PasswordOptions, signInWithPassword, signOut } from '../sign-in.ts'

export const emailChange = () =>
  new Command('change')
    .description('send a link to a new email address; the address changes when you confirm it')
    .argument('<new-address>', 'your new email address')
    .option(...EMAIL)
    .option(...PASSWORD_STDIN)
    .action(async (address: string, { email, passwordStdin }: Omit<PasswordOptions, 'ldap'>) => {
      const { url } = readSettings()
      const current = email ?? (await prompt('Email', '--email ADDRESS'))
      const [password = '', code] = passwordStdin
        ? (await readStdin()).split('\n')
        : [await prompt('Password', '--password-stdin', { hidden: true })]
      const { sessionToken: token } = await signInWithPassword(url, current, password, code)
      const { requestEmailChange } = await request(
        graphql(`mutation EmailChange($input: RequestEmailChangeInput!) {
          requestEmailChange(input: $input) { __typename ... on RequestEmailChangePayload { email } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input: { email: address, currentPassword: password } },
        { url, token },
      ).finally(() => signOut(url, token))
      process.stderr.write(
        `Sent a link to ${orThrow(requestEmailChange).email}. Open it in the browser in which you are signed in, or run \`muster email confirm LINK\` within one hour.\n`,
      )
    })
