import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'

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

export async function signInWithPassword(url: string, email: string, password: string): Promise<SignedIn> {
  const { signIn } = await request(
    graphql(`mutation LoginByPassword($email: String!, $password: String!) {
      signIn(input: { email: $email, password: $password }) { __typename ... on SignInPayload { sessionToken viewer { name role } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
    }`),
    { email, password },
    { url },
  )
  return orThrow(signIn)
}
