import { resetPassword, setPassword } from '@muster/core/access'
import { InvalidInput, SecondFactorRequired, Unauthenticated, Unavailable } from '@muster/core/errors'
import type { RequestFacts } from '../http/request-facts.ts'
import { PASSWORD_LENGTH } from './better-auth.ts'
import type { Caller, CallerContext, SignedIn } from './caller.ts'
import type { SignInParts } from './parts.ts'
import { type AuditFacts, requestCtx } from './request-ctx.ts'

export const WRONG_PASSWORD = 'The email address or the password is wrong.'

type SetPassword = { password: string; currentPassword?: string | null; name?: string | null; email?: string | null }

/** Sign-in with email address and password, and their changes. */
export function createPasswordSignIn({
  mailer,
  internals,
  callers,
  throttle,
  addressOf,
  route,
  cookieOf,
  signedIn,
  checkCurrentPassword,
}: SignInParts) {
  return {
    async signIn(facts: RequestFacts, input: { email: string; password: string }): Promise<SignedIn> {
      const email = input.email.trim()
      await throttle.attempt('password', addressOf(facts), email)
      const response = await route(facts, '/sign-in/email', { ...input, email })
      if (response.ok) await throttle.succeeded('password', email, addressOf(facts))
      const challenge = response.ok && cookieOf(response, 'two_factor')
      if (challenge) throw new SecondFactorRequired(challenge)
      return signedIn(facts, response, WRONG_PASSWORD)
    },

    async setPassword({ ctx, caller, ...facts }: RequestFacts & CallerContext, input: SetPassword): Promise<Caller> {
      if (!caller?.sessionToken || !caller.sessionId)
        throw new InvalidInput([{ path: '', message: 'an API token has no password; sign in as a user' }])
      checkPassword(input.password)
      await checkCurrentPassword(facts, caller, input.currentPassword)
      const { name, email } = input
      const passwordHash = await (await internals).password.hash(input.password)
      await setPassword({ ...ctx, db: ctx.systemDb }, { sessionId: caller.sessionId, passwordHash, name, email: email || null })
      callers.clearCache()
      ctx.log.info({ user: caller.actor.id }, 'password set')
      return (await callers.read(caller.sessionToken, facts.headers)) ?? caller
    },

    /**
     * Sends a link that sets a new password, if a user has this address. The answer is the same for all addresses.
     * @throws Unavailable when the installation sends no email
     */
    async requestPasswordReset(facts: RequestFacts, email: string): Promise<void> {
      if (!mailer)
        throw new Unavailable(
          'This installation sends no email. Ask an administrator to run bin/muster-admin reset-owner on the server.',
        )
      await throttle.attempt('reset', addressOf(facts), email)
      const response = await route(facts, '/request-password-reset', { email: email.trim() })
      if (!response.ok) throw new InvalidInput([{ path: 'input.email', message: 'must be an email address' }])
    },

    /** Sets a new password with the token of a reset link. All sessions of the user end. @throws Unauthenticated it is invalid */
    async resetPassword(context: RequestFacts & AuditFacts, input: { token: string; password: string }): Promise<void> {
      checkPassword(input.password)
      await throttle.attempt('reset', addressOf(context))
      const { password, internalAdapter } = await internals
      // The identifier that better-auth gave to the link.
      const link = await internalAdapter.consumeVerificationValue(`reset-password:${input.token}`)
      if (!link) throw new Unauthenticated('This link was already used or is older than one hour. Request a new one.')
      await resetPassword(requestCtx(context), { userId: link.value, passwordHash: await password.hash(input.password) })
      callers.clearCache()
    },
  }
}

/** @throws InvalidInput */
export function checkPassword(password: string): void {
  const { min, max } = PASSWORD_LENGTH
  if (password.length < min || password.length > max)
    throw new InvalidInput([{ path: 'input.password', message: `must have ${min} to ${max} characters` }])
}
