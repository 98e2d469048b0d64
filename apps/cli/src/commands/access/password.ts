import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { prompt, readStdin } from '../../prompt.ts'
import { readSettings } from '../../settings.ts'
import { signInWithPassword } from './sign-in.ts'

export const password = () =>
  new Command('password')
    .option('--email <address>', 'your email address (default: prompt)')
    .option(
      '--stdin',
      'read the current password, the new password, and the code of an authenticator app if you have one, from standard input, one per line',
    )
    .action(async ({ email, stdin }: { email?: string; stdin?: true }) => {
      const { url } = readSettings()
      const address = email ?? (await prompt('Email', '--email ADDRESS'))
      const [current, next, code] = stdin ? (await readStdin()).split('\n') : await askPasswords()
      if (!current || !next)
        throw new CliError(
          'Standard input must have two lines: current and new password, and a third with the code if you use an authenticator app.',
          EXIT.usage,
        )
      // An API token cannot change a password; a session can.
      const { sessionToken } = await signInWithPassword(url, address, current, code)
      const { setPassword } = await request(
        graphql(`mutation PasswordSet($input: SetPasswordInput!) {
          setPassword(input: $input) { __typename ... on SetPasswordPayload { viewer { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input: { currentPassword: current, password: next } },
        { url, token: sessionToken },
      )
      orThrow(setPassword)
      process.stderr.write('Password changed. All other sessions were signed out; API tokens stay valid.\n')
    })

async function askPasswords(): Promise<[string, string, undefined]> {
  const current = await prompt('Current password', '--stdin', { hidden: true })
  const next = await prompt('New password', '--stdin', { hidden: true })
  if (next !== (await prompt('Repeat new password', '--stdin', { hidden: true })))
    throw new CliError('The new passwords differ.', EXIT.usage)
  return [current, next, undefined]
}
