import type { IdentityProvider, Throttle } from '@muster/core/access'
import type { Db } from '@muster/core/db'
import type { RequestFacts } from '../http/request-facts.ts'
import type { Caller, SignedIn } from './caller.ts'
import type { Callers } from './callers.ts'
import type { ChangeSignIn } from './sign-in-changes.ts'

/** Functions that all kinds of sign-in share, from `createAuth`. */
export type SignInParts = {
  db: Db
  publicUrl: string
  /** Calls a route of better-auth with these cookies, by name without prefix. */
  route(facts: RequestFacts, path: string, body?: object, cookies?: Record<string, string>): Promise<Response>
  /** The text in a signed cookie that better-auth set; null when it set none. */
  cookieOf(response: Response, name: string): string | null
  /** The caller of a new session, from the `token` in the response. @throws Unauthenticated */
  signedIn(facts: RequestFacts, response: Response, rejection: string): Promise<SignedIn>
  /** Ends a new session whose sign-in is rejected, and takes its cookie out of the response. */
  discardSession(facts: RequestFacts, token: string): Promise<void>
  /** Runs a change of how the caller signs in, in one transaction with its audit entry. */
  changeSignIn: ChangeSignIn
  throttle: Throttle
  addressOf(facts: Pick<RequestFacts, 'headers'>): string
  /** Whether it is the user's password; null when the user has none. @throws Unavailable after too many attempts */
  isCurrentPassword(facts: RequestFacts, caller: Caller, given: string | null | undefined): Promise<boolean | null>
  /**
   * For changes of how the user signs in. The password is a proof of identity; a user without one needs a recent other proof.
   * @throws InvalidInput when the user has a password and this is not it; StepUpRequired; Unavailable after too many attempts
   */
  checkCurrentPassword(facts: RequestFacts, caller: Caller, given: string | null | undefined): Promise<void>
  callers: Callers
  /** The identity providers of the installation. */
  providers: readonly IdentityProvider[]
}
