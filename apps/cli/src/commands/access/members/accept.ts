import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { omitUndefined } from '../../../options.ts'
import { prompt, readStdin } from '../../../prompt.ts'
import { signOut } from '../sign-in.ts'

const INVITATION = graphql(`query InvitationToAccept($token: String!) {
  openInvitation(token: $token) { email role tenantName hasAccount }
}`)

export const memberAccept = () =>
  new Command('accept')
    .description('accept an invitation with its link; creates your account unless you have one')
    .argument('<link>', 'link of the invitation')
    .option('--name <name>', 'your name, for a new account (default: prompt)')
    .option('--password-stdin', 'read the password, of your account or a new one, from standard input')
    .action(async (link: string, { name, passwordStdin }: { name?: string; passwordStdin?: true }) => {
      const { url, token } = parseLink(link)
      const { openInvitation: invitation } = await request(INVITATION, { token }, { url })
      if (!invitation) throw new CliError('The invitation was used or revoked, or has expired. Ask for a new one.', EXIT.notFound)
      const { email, hasAccount, tenantName, role } = invitation
      const { acceptInvitation } = await request(
        graphql(`mutation InvitationAccept($input: AcceptInvitationInput!) {
          acceptInvitation(input: $input) {
            __typename ... on AcceptInvitationPayload { sessionToken } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          input: {
            token,
            ...omitUndefined({ name: hasAccount ? undefined : (name ?? (await prompt('Name', '--name NAME'))) }),
            password: passwordStdin ? await readStdin() : await askPassword(hasAccount),
          },
        },
        { url },
      )
      await signOut(url, orThrow(acceptInvitation).sessionToken)
      process.stderr.write(
        `${email} is a member of ${tenantName} (${role}). Sign in with \`muster login ${url} --email ${email}\`.\n`,
      )
    })

function parseLink(link: string): { url: string; token: string } {
  const url = URL.parse(link)
  const token = url && new URLSearchParams(url.hash.slice(1)).get('token')
  if (!token) throw new CliError('Invalid link. An invitation link ends with /invitation#token=….', EXIT.usage)
  return { url: url.origin, token }
}

async function askPassword(hasAccount: boolean): Promise<string> {
  const password = await prompt(hasAccount ? 'Password' : 'New password', '--password-stdin', { hidden: true })
  if (!hasAccount && password !== (await prompt('Repeat new password', '--password-stdin', { hidden: true })))
    throw new CliError('The passwords differ.', EXIT.usage)
  return password
}
