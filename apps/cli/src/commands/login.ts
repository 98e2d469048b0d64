import { hostname } from 'node:os'
import { Command, Option } from 'commander'
import { request } from '../client.ts'
import { CliError, EXIT, orThrow } from '../errors.ts'
import { graphql } from '../graphql.ts'
import { ask, readStdin } from '../prompt.ts'
import { saveSettings } from '../settings.ts'

type Options = { email?: string; passwordStdin?: true; tokenStdin?: true; role: 'VIEWER' | 'OPERATOR' | 'ADMIN' | 'OWNER' }

export const login = () =>
  new Command('login')
    .description('sign in and keep an API token for the next commands')
    .argument('<url>', "the console's address, or the one-time sign-in link that the first start printed")
    .option('--email <address>', 'who; asked for when missing')
    .option('--password-stdin', 'read the password from standard input')
    .option('--token-stdin', 'use an existing API token, read from standard input')
    .addOption(
      new Option('--role <role>', 'what the new token may do').choices(['VIEWER', 'OPERATOR', 'ADMIN', 'OWNER']).default('ADMIN'),
    )
    .action(async (address: string, options: Options) => {
      const { origin: url, linkToken } = parseAddress(address)
      const token = options.tokenStdin ? await readStdin() : await newToken(url, linkToken, options)
      const { viewer } = await request(graphql(`query LoginViewer { viewer { name role tenantName } }`), {}, { url, token })
      if (!viewer) throw new CliError('The token is not valid, or no longer.', EXIT.notAllowed)
      const path = saveSettings({ url, token })
      process.stderr.write(
        `Signed in to ${url} as ${viewer.name} (${viewer.role.toLowerCase()} of ${viewer.tenantName}). Saved in ${path}.\n`,
      )
    })

function parseAddress(address: string): { origin: string; linkToken: string | null } {
  const url = URL.parse(address.includes('://') ? address : `http://${address}`)
  if (!url) throw new CliError(`${address} is not an address. It looks like http://localhost:3000.`, EXIT.usage)
  return { origin: url.origin, linkToken: url.searchParams.get('token') }
}

/** Sign in for just long enough to make an API token. */
async function newToken(url: string, linkToken: string | null, options: Options): Promise<string> {
  const session = linkToken ? await byLink(url, linkToken) : await byPassword(url, options)
  const { createApiToken } = await request(
    graphql(`mutation LoginToken($input: CreateApiTokenInput!) {
      createApiToken(input: $input) { __typename ... on CreatedApiToken { token } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { input: { name: `muster on ${hostname()}`, role: options.role, expiresInDays: 90 } },
    { url, token: session },
  )
  return orThrow(createApiToken).token
}

async function byLink(url: string, token: string): Promise<string> {
  const { signInWithLink } = await request(
    graphql(`mutation LoginByLink($token: String!) {
      signInWithLink(input: { token: $token }) { __typename ... on SignedIn { sessionToken } ... on Error { code message } }
    }`),
    { token },
    { url },
  )
  return orThrow(signInWithLink).sessionToken
}

async function byPassword(url: string, options: Options): Promise<string> {
  const email = options.email ?? (await ask('E-mail'))
  const password = options.passwordStdin ? await readStdin() : await ask('Password', { hidden: true })
  const { signIn } = await request(
    graphql(`mutation LoginByPassword($email: String!, $password: String!) {
      signIn(input: { email: $email, password: $password }) { __typename ... on SignedIn { sessionToken } ... on Error { code message } }
    }`),
    { email, password },
    { url },
  )
  return orThrow(signIn).sessionToken
}
