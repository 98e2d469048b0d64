import { request } from '../../client.ts'
import { CliError, errorFrom, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { prompt, readStdin } from '../../prompt.ts'

export type SignedIn = { sessionToken: string; viewer: { name: string; role: string } }

/** Signs in with the one-time link of the first start. */
export async function signInWithLink(url: string, token: string): Promise<SignedIn> {
  const { signInWithLink } = await request(
    graphql(`mutation LoginByLink($token: String!) {
      signInWithLink(input: { token: $token }) { __typename ... on SignInWithLinkPayload { sessionToken viewer { name role } } ... on Error { code message } }
    }`),
    { token },
    { url },
  )
  return orThrow(signInWithLink)
}

/** Options of commands that sign in with a password. */
export type PasswordOptions = { email?: string; passwordStdin?: true; ldap?: string }

/** Asks for email address and password, unless the options have them, and signs in. */
export async function askAndSignIn(url: string, { email, passwordStdin, ldap }: PasswordOptions): Promise<SignedIn> {
  const name = ldap ?? email ?? (await prompt('Email', '--email ADDRESS'))
  const signIn = ldap ? signInWithLdap : signInWithPassword
  if (!passwordStdin) return signIn(url, name, await prompt('Password', '--password-stdin', { hidden: true }))
  const [password, code] = (await readStdin()).split('\n')
  return signIn(url, name, password ?? '', code)
}

/**
 * Signs in with a password, and with a code of an authenticator app when the user has one.
 * @param code asked for on the terminal when it is needed and not given
 */
export async function signInWithPassword(url: string, email: string, password: string, code?: string): Promise<SignedIn> {
  const { signIn } = await request(
    graphql(`mutation LoginByPassword($email: String!, $password: String!) {
      signIn(input: { email: $email, password: $password }) { __typename ... on SignInPayload { sessionToken viewer { name role } } ... on SecondFactorRequiredError { challenge } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { email, password },
    { url },
  )
  if (signIn.__typename === 'SecondFactorRequiredError') return enterCode(url, signIn.challenge, code)
  if (signIn.__typename === 'UnauthenticatedError') throw await withOtherMethods(url, errorFrom(signIn))
  return orThrow(signIn)
}

/** Adds to a failed sign-in that the installation offers an identity provider, which needs a browser. */
async function withOtherMethods(url: string, error: CliError): Promise<CliError> {
  const { signInMethods } = await request(graphql(`query LoginMethods { signInMethods { kind name } }`), {}, { url })
  const provider = signInMethods.find(({ kind }) => kind === 'OIDC')
  if (!provider) return error
  return new CliError(`${error.message} To sign in with ${provider.name}, run \`muster login ${url} --web\`.`, error.exitCode)
}

/** Signs in with a name and password of the LDAP directory. */
async function signInWithLdap(url: string, userName: string, password: string, code?: string): Promise<SignedIn> {
  const { signInWithLdap } = await request(
    graphql(`mutation LoginByLdap($userName: String!, $password: String!) {
      signInWithLdap(input: { userName: $userName, password: $password }) { __typename ... on SignInWithLdapPayload { sessionToken viewer { name role } } ... on SecondFactorRequiredError { challenge } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { userName, password },
    { url },
  )
  return signInWithLdap.__typename === 'SecondFactorRequiredError'
    ? enterCode(url, signInWithLdap.challenge, code)
    : orThrow(signInWithLdap)
}

/** Second step of a sign-in of a user with an authenticator app. */
async function enterCode(url: string, challenge: string, code: string | undefined): Promise<SignedIn> {
  const { verifySecondFactor } = await request(
    graphql(`mutation LoginByCode($challenge: String!, $code: String!) {
      verifySecondFactor(input: { challenge: $challenge, code: $code }) { __typename ... on VerifySecondFactorPayload { sessionToken viewer { name role } } ... on Error { code message } }
    }`),
    {
      challenge,
      code:
        code ||
        (await prompt(
          'Code of your authenticator app, or a recovery code',
          'a second line with the code on standard input, or --web',
        )),
    },
    { url },
  )
  return orThrow(verifySecondFactor)
}

/** Ends the session of a command. */
export const signOut = (url: string, token: string) =>
  request(graphql(`mutation SignOutOfCommand { signOut { __typename } }`), {}, { url, token })
