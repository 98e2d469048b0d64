import { hasLocalSignIn, hasSignInMethod } from '@muster/core/access'
import { Unauthenticated } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'
import type { RequestFacts } from '../http/request-facts.ts'
import type { SignedIn } from './caller.ts'
import type { SignInParts } from './parts.ts'

const { users } = schema

/** One-time sign-in links, which the server prints for a user who has no way to sign in. */
export function createLinkSignIn({
  db,
  better,
  internals,
  takeLink,
  throttle,
  addressOf,
  route,
  signedIn,
  discardSession,
}: SignInParts) {
  return {
    async signInWithLink(facts: RequestFacts, token: string): Promise<SignedIn> {
      const linkInvalid =
        'This sign-in link was already used, or is older than 24 hours. Muster prints a new one when it starts, while the owner has no way to sign in.'
      await throttle.attempt('link', addressOf(facts))
      const session = await signedIn(
        facts,
        await route(facts, `/magic-link/verify?token=${encodeURIComponent(token)}`),
        linkInvalid,
      )
      // An older link must not bypass the password or a passkey.
      if (await hasLocalSignIn(db, session.viewer.actor.id)) {
        await discardSession(facts, session.sessionToken)
        throw new Unauthenticated('A password or passkey was set after this link was created. Sign in with it.')
      }
      // A link replaces no second factor.
      if ((await db.$count(users, and(eq(users.id, session.viewer.actor.id), users.twoFactorEnabled))) > 0) {
        await discardSession(facts, session.sessionToken)
        throw new Unauthenticated(
          'This account uses an authenticator app, which a link does not replace. Sign in as before, or run bin/muster-admin reset-owner on the server.',
        )
      }
      return session
    },

    /** Returns the user with this email address, and creates it if missing. Used by the first start. */
    async ensureUser(email: string, name: string): Promise<{ id: string; canSignIn: boolean }> {
      const { internalAdapter } = await internals
      const address = email.toLowerCase()
      const existing = await internalAdapter.findUserByEmail(address)
      const user =
        existing?.user ??
        (await internalAdapter.createUser({ email: address, name, emailVerified: true }, { method: 'first-start' }))
      return { id: user.id, canSignIn: await hasSignInMethod(db, user.id) }
    },

    /** Creates a single-use sign-in token, valid for 24 hours. */
    async createSignInToken(email: string): Promise<string> {
      await better.api.signInMagicLink({ body: { email }, headers: new Headers() })
      const token = takeLink(email)
      if (!token) throw new Error('better-auth created no sign-in link')
      return token
    },
  }
}
