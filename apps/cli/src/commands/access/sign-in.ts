import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { prompt, readStdin } from '../../prompt.ts'

export type Role = 'VIEWER' | 'OPERATOR' | 'ADMIN' | 'OWNER'
export type SignedIn = { sessionToken: string; viewer: { name: string; role: Role } }

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
export type PasswordOptions = { email?: string; passwordStdin?: true }

/** Asks for email address and password, unless the options have them, and signs in. */
export async function askAndSignIn(url: string, { email, passwordStdin }: PasswordOptions): Promise<SignedIn> {
  const address = email ?? (await prompt('Email', '--email ADDRESS'))
  if (!passwordStdin) return signInWithPassword(url, address, await prompt('Password', '--password-stdin', { hidden: true }))
  const [password, code] = (await readStdin()).split('\n')
  return signInWithPassword(url, address, password ?? '', code)
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
  if (signIn.__typename !== 'SecondFactorRequiredError') return orThrow(signIn)
  const { verifySecondFactor } = await request(
    graphql(`mutation LoginByCode($challenge: String!, $code: String!) {
      verifySecondFactor(input: { challenge: $challenge, code: $code }) { __typename ... on VerifySecondFactorPayload { sessionToken viewer { name role } } ... on Error { code message } }
    }`),
    {
      challenge: signIn.challenge,
      code:
        code ||
        (await prompt('Code of your authenticator app, or a recovery code', 'a second line with the code on standard input')),
    },
    { url },
  )
  return orThrow(verifySecondFactor)
}

/** Ends the session of a command. */
export const signOut = (url: string, token: string) =>
  request(graphql(`mutation SignOutOfCommand { signOut { __typename } }`), {}, { url, token })
