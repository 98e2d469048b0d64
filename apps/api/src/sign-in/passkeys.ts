import { isIP } from 'node:net'
import { endSession, recordPasskeyAdded, removePasskey, renamePasskey } from '@muster/core/access'
import { Conflict, InvalidInput, Unauthenticated } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import type { RequestFacts } from '../http/request-facts.ts'
import { PASSKEY_CHALLENGE } from './better-auth.ts'
import type { Caller, CallerContext, SignedIn } from './caller.ts'
import type { SignInParts } from './parts.ts'

const { passkeys, users } = schema

/** `challenge` identifies the ceremony; it works once, for five minutes. `options`: JSON for `navigator.credentials`. */
export type PasskeyCeremony = { challenge: string; options: string }
/** `response`: JSON of what `navigator.credentials` returned. */
export type PasskeyAnswer = { challenge: string; response: string }
type Context = RequestFacts & CallerContext

const SIGN_IN_FAILED = 'This passkey is not registered, or the sign-in is older than five minutes. Try again.'

/** Why browsers do not support passkeys at this address; null when they do. */
export function passkeysBlockedReason(publicUrl: string): string | null {
  const { hostname, protocol } = new URL(publicUrl)
  if (isIP(hostname.replace(/^\[|\]$/g, ''))) return `Passkeys require a host name, but MUSTER_PUBLIC_URL is ${publicUrl}.`
  return protocol === 'https:' || hostname === 'localhost'
    ? null
    : `Passkeys require HTTPS, but MUSTER_PUBLIC_URL is ${publicUrl}.`
}

/** Passkeys (WebAuthn). better-auth stores public keys and checks challenge, origin, signature and counter. */
export function createPasskeys({
  db,
  publicUrl,
  route,
  cookieOf,
  signedIn,
  changeSignIn,
  throttle,
  addressOf,
  checkCurrentPassword,
  callers,
  providers,
}: SignInParts) {
  const blockedReason = passkeysBlockedReason(publicUrl)

  function assertUsable(): void {
    if (blockedReason) throw new Conflict(blockedReason)
  }

  function sessionOf({ caller }: Context): { caller: Caller; session_token: string } {
    if (!caller?.sessionToken) throw new InvalidInput([{ path: '', message: 'an API token has no passkeys; sign in as a user' }])
    return { caller, session_token: caller.sessionToken }
  }

  async function ceremonyOf(response: Response): Promise<PasskeyCeremony> {
    const challenge = cookieOf(response, PASSKEY_CHALLENGE)
    if (!response.ok || !challenge) throw new Conflict('The session changed at the same time. Try again.')
    return { challenge, options: await response.text() }
  }

  /** @param session_token accepts only passkeys of this session's user; default: of every user */
  async function startAuthentication(facts: RequestFacts, session_token?: string): Promise<PasskeyCeremony> {
    assertUsable()
    const path = '/passkey/generate-authenticate-options'
    const ceremony = await ceremonyOf(await route(facts, path, undefined, session_token ? { session_token } : {}))
    return { ...ceremony, options: JSON.stringify({ ...JSON.parse(ceremony.options), userVerification: 'required' }) }
  }

  /** Checks the answer of an authenticator. @returns a new session of the owner of the passkey; null when it is not valid */
  async function authenticate(facts: RequestFacts, { challenge, response }: PasskeyAnswer): Promise<string | null> {
    await throttle.attempt('passkey', addressOf(facts))
    const answer = await route(
      facts,
      '/passkey/verify-authentication',
      { response: parseAnswer(response) },
      { [PASSKEY_CHALLENGE]: challenge },
    )
    return answer.ok ? cookieOf(answer, 'session_token') : null
  }

  return {
    passkeysBlockedReason: blockedReason,

    /** Email address of the owner of the passkey in this response; null for other texts. For the audit log only. */
    async emailOfPasskey(response: unknown): Promise<string | null> {
      const { id } = typeof response === 'string' ? parseAnswer(response) : {}
      if (typeof id !== 'string') return null
      const [row] = await db
        .select({ email: users.email })
        .from(passkeys)
        .innerJoin(users, eq(users.id, passkeys.userId))
        .where(eq(passkeys.credentialID, id))
      return row?.email ?? null
    },

    /** @throws Conflict passkeys do not work at this address; InvalidInput; Unavailable */
    async startPasskeyRegistration(
      context: Context,
      { currentPassword }: { currentPassword?: string | null },
    ): Promise<PasskeyCeremony> {
      assertUsable()
      const { caller, session_token } = sessionOf(context)
      await checkCurrentPassword(context, caller, currentPassword)
      return ceremonyOf(await route(context, '/passkey/generate-register-options', undefined, { session_token }))
    },

    /** Completes a registration. @returns the row ID of the passkey @throws InvalidInput */
    async finishPasskeyRegistration(context: Context, { name, ...answer }: PasskeyAnswer & { name: string }): Promise<string> {
      const { session_token } = sessionOf(context)
      const label = name.trim()
      if (label === '' || label.length > 100)
        throw new InvalidInput([{ path: 'input.name', message: 'must have 1 to 100 characters' }])
      const id = await changeSignIn(context.ctx, async (_tx, ctx) => {
        const response = await route(
          context,
          '/passkey/verify-registration',
          { response: parseAnswer(answer.response), name: label },
          { session_token, [PASSKEY_CHALLENGE]: answer.challenge },
        )
        if (!response.ok) return null
        return (await recordPasskeyAdded(ctx, (await response.json()) as { id: string })).id
      })
      if (!id)
        throw new InvalidInput([
          {
            path: 'input.response',
            message: 'is not the response of an authenticator that verified you, or is older than five minutes',
          },
        ])
      return id
    },

    /** Starts a proof of identity with a passkey of the signed-in user. */
    startPasskeyConfirmation: (context: Context): Promise<PasskeyCeremony> =>
      startAuthentication(context, sessionOf(context).session_token),

    /** Whether the answer is one of a passkey of the signed-in user. */
    async isOwnPasskey(context: Context, caller: Caller, answer: PasskeyAnswer): Promise<boolean> {
      // better-auth creates a session, which nobody gets.
      const token = await authenticate({ ...context, responseHeaders: null }, answer)
      return token !== null && (await endSession(db, token)) === caller.actor.id
    },

    /** @throws Conflict passkeys do not work at this address; Unavailable */
    async startPasskeySignIn(facts: RequestFacts): Promise<PasskeyCeremony> {
      await throttle.attempt('passkey', addressOf(facts))
      return startAuthentication(facts)
    },

    /** @throws Unauthenticated, Unavailable */
    async signInWithPasskey(facts: RequestFacts, answer: PasskeyAnswer): Promise<SignedIn> {
      const token = await authenticate(facts, answer)
      if (!token) throw new Unauthenticated(SIGN_IN_FAILED)
      return signedIn(facts, Response.json({ token }), SIGN_IN_FAILED)
    },

    renamePasskey: (context: Context, input: { id: string; name: string }): Promise<{ id: string }> => {
      sessionOf(context)
      return renamePasskey({ ...context.ctx, db: context.ctx.systemDb }, input)
    },

    /** @throws NotFound; Conflict it is the last way to sign in */
    async removePasskey(
      context: Context,
      { id, currentPassword }: { id: string; currentPassword?: string | null },
    ): Promise<{ id: string }> {
      const { caller } = sessionOf(context)
      await checkCurrentPassword(context, caller, currentPassword)
      const removed = await removePasskey({ ...context.ctx, db: context.ctx.systemDb }, { id }, providers)
      callers.clearCache()
      return removed
    },
  }
}

/** The answer of an authenticator; empty, which better-auth rejects, when the text is not an object in JSON. */
function parseAnswer(text: string): { id?: unknown } {
  try {
    const value = JSON.parse(text) as unknown
    return value !== null && typeof value === 'object' ? value : {}
  } catch {
    return {}
  }
}
