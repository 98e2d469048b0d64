import { hostname } from 'node:os'
import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { readStdin } from '../../prompt.ts'
import { saveSettings } from '../../settings.ts'
import { askAndSignIn, signInWithLink } from './sign-in.ts'
import { signInThroughBrowser } from './web-sign-in.ts'

type Options = {
  email?: string
  ldap?: string
  passwordStdin?: true
  tokenStdin?: true
  web?: true
  role?: string
  installationAdmin?: true
  tenant?: string
}
/** Lifetime of the API token. */
const DAYS = 90

export const login = () =>
  new Command('login')
    .argument('<url>', 'address of the console, or the one-time sign-in link')
    .option('--email <address>', 'your email address (default: prompt)')
    .option('--ldap <name>', 'sign in with this user name in the LDAP directory, instead of an email address')
    .option(
      '--password-stdin',
      'read the password, and the code of an authenticator app if you have one, from standard input, one per line',
    )
    .option('--web', 'approve the sign-in in a browser on any machine: by a passkey, an identity provider or a second factor')
    .option('--token-stdin', 'use an existing API token, read from standard input')
    .option('--role <role>', 'role of the token, at most your own (default: your role, but not owner)')
    .option('--tenant <name>', 'tenant of the token (default: the tenant of your last session, or the first one)')
    .option('--installation-admin', 'include the installation permissions: tenants, workers, quotas and the encryption key')
    .action(async (address: string, options: Options) => {
      const { origin: url, linkToken } = parseAddress(address)
      const { token, by } = options.tokenStdin
        ? { token: await readStdin() }
        : options.web
          ? { token: await signInThroughBrowser(url, wantedToken(options)) }
          : await newToken(url, linkToken, options)
      const { viewer } = await request(graphql(`query LoginViewer { viewer { name role tenant { name } } }`), {}, { url, token })
      if (!viewer) throw new CliError('The token is invalid or has expired.', EXIT.notAllowed)
      const path = saveSettings({ url, token, tenant: viewer.tenant.name })
      process.stderr.write(
        `Signed in to ${url} as ${by ?? viewer.name} (${viewer.role.toLowerCase()} of ${viewer.tenant.name})${by ? ` for ${DAYS} days` : ''}. Saved in ${path}.\n`,
      )
      if (linkToken)
        process.stderr.write(
          'The link is used now. To sign in to the console, get another one with `bin/muster-admin reset-owner` on the server.\n',
        )
    })

function parseAddress(address: string): { origin: string; linkToken: string | null } {
  const url = URL.parse(address.includes('://') ? address : `http://${address}`)
  if (!url) throw new CliError(`Invalid address: ${address}. Example: http://localhost:3000`, EXIT.usage)
  return { origin: url.origin, linkToken: new URLSearchParams(url.hash.slice(1)).get('token') }
}

const wantedToken = ({ role, installationAdmin, tenant }: Options) => ({
  tokenName: `muster on ${hostname()}`,
  isInstallationAdmin: installationAdmin ?? false,
  expiresInSeconds: DAYS * 86_400,
  role,
  tenant: tenant ?? process.env.MUSTER_TENANT,
})

/** Signs in to create an API token. @returns the token and the name of its owner */
async function newToken(url: string, linkToken: string | null, options: Options): Promise<{ token: string; by?: string }> {
  const { sessionToken, viewer } = linkToken ? await signInWithLink(url, linkToken) : await askAndSignIn(url, options)
  const role = options.role ?? (viewer.role === 'owner' ? 'admin' : viewer.role)
  const { createApiToken } = await request(
    graphql(`mutation LoginToken($input: CreateApiTokenInput!) {
      createApiToken(input: $input) { __typename ... on CreateApiTokenPayload { secret } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    {
      input: {
        name: `muster on ${hostname()}`,
        role,
        isInstallationAdmin: options.installationAdmin ?? false,
        expiresInSeconds: DAYS * 86_400,
      },
    },
    { url, token: sessionToken, tenant: options.tenant ?? process.env.MUSTER_TENANT },
  )
  return { token: orThrow(createApiToken).secret, by: viewer.name }
}
