import { hostname } from 'node:os'
import { Command } from 'commander'
import { request } from '../client.ts'
import { CliError, EXIT, orThrow } from '../errors.ts'
import { graphql } from '../graphql.ts'
import { oneOf } from '../options.ts'
import { ask, readStdin } from '../prompt.ts'
import { saveSettings } from '../settings.ts'

type Role = 'VIEWER' | 'OPERATOR' | 'ADMIN' | 'OWNER'
type Options = { email?: string; passwordStdin?: true; tokenStdin?: true; role?: Role }
type SignedIn = { sessionToken: string; viewer: { name: string; role: Role } }
const DAYS = 90

export const login = () =>
  new Command('login')
    .description('sign in and keep an API token for the next commands')
    .argument('<url>', "the console's address, or the one-time sign-in link that the first start printed")
    .option('--email <address>', 'who; asked for when missing')
    .option('--password-stdin', 'read the password from standard input')
    .option('--token-stdin', 'use an existing API token, read from standard input')
    .option(
      '--role <role>',
      'what the new token may do, at most what you may: VIEWER, OPERATOR, ADMIN or OWNER (default: yours, but not OWNER)',
      oneOf('VIEWER', 'OPERATOR', 'ADMIN', 'OWNER'),
    )
    .action(async (address: string, options: Options) => {
      const { origin: url, linkToken } = parseAddress(address)
      const { token, by } = options.tokenStdin ? { token: await readStdin() } : await newToken(url, linkToken, options)
      const { viewer } = await request(graphql(`query LoginViewer { viewer { name role tenantName } }`), {}, { url, token })
      if (!viewer) throw new CliError('This token is not valid, or no longer.', EXIT.notAllowed)
      const path = saveSettings({ url, token })
      process.stderr.write(
        `Signed in to ${url} as ${by ?? viewer.name} (${viewer.role.toLowerCase()} of ${viewer.tenantName})${by ? ` for ${DAYS} days` : ''}. Saved in ${path}.\n`,
      )
    })

function parseAddress(address: string): { origin: string; linkToken: string | null } {
  const url = URL.parse(address.includes('://') ? address : `http://${address}`)
  if (!url) throw new CliError(`${address} is not an address. It looks like http://localhost:3000.`, EXIT.usage)
  return { origin: url.origin, linkToken: url.searchParams.get('token') }
}

/** Sign in for just long enough to make an API token. @returns it, and whose it is */
async function newToken(url: string, linkToken: string | null, options: Options): Promise<{ token: string; by?: string }> {
  const { sessionToken, viewer } = linkToken ? await byLink(url, linkToken) : await byPassword(url, options)
  const role = options.role ?? (viewer.role === 'OWNER' ? 'ADMIN' : viewer.role)
  const { createApiToken } = await request(
    graphql(`mutation LoginToken($input: CreateApiTokenInput!) {
      createApiToken(input: $input) { __typename ... on CreatedApiToken { token } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { input: { name: `muster on ${hostname()}`, role, expiresInDays: DAYS } },
    { url, token: sessionToken },
  )
  return { token: orThrow(createApiToken).token, by: viewer.name }
}

async function byLink(url: string, token: string): Promise<SignedIn> {
  const { signInWithLink } = await request(
    graphql(`mutation LoginByLink($token: String!) {
      signInWithLink(input: { token: $token }) { __typename ... on SignedIn { sessionToken viewer { name role } } ... on Error { code message } }
    }`),
    { token },
    { url },
  )
  return orThrow(signInWithLink)
}

async function byPassword(url: string, options: Options): Promise<SignedIn> {
  const email = options.email ?? (await ask('E-mail', '--email ADDRESS'))
  const password = options.passwordStdin ? await readStdin() : await ask('Password', '--password-stdin', { hidden: true })
  const { signIn } = await request(
    graphql(`mutation LoginByPassword($email: String!, $password: String!) {
      signIn(input: { email: $email, password: $password }) { __typename ... on SignedIn { sessionToken viewer { name role } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { email, password },
    { url },
  )
  return orThrow(signIn)
}
