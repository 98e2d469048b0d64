import {
  createThrottle,
  deleteSessions,
  findAccessProviders,
  hashToken,
  hasSignInMethod,
  type IdentityProvider,
  recordIdentityProof,
  recordSessionStart,
} from '@muster/core/access'
import { assertIdentityConfirmed } from '@muster/core/context'
import type { Db } from '@muster/core/db'
import { InvalidInput, StepUpRequired, Unauthenticated } from '@muster/core/errors'
import type { Listener } from '@muster/core/events'
import type { Log } from '@muster/core/log'
import { schema } from '@muster/core/registry'
import { and, eq, not } from 'drizzle-orm'
import { clientAddress as addressOf, type RequestFacts } from '../http/request-facts.ts'
import type { Mailer } from '../mail/mailer.ts'
import { passwordResetMail, secretLink } from '../mail/mails.ts'
import { createBetterAuth } from './better-auth.ts'
import type { Caller, SignedIn } from './caller.ts'
import { createCallers } from './callers.ts'
import type { Ldap } from './ldap.ts'
import type { Oidc } from './oidc.ts'
import { cookiePrefix, openCookie, sessionCookieName, signCookie } from './session-cookie.ts'
import { createSignInChanges } from './sign-in-changes.ts'

const { sessions: userSessions } = schema

/** A user without a password changes how they sign in only this long after a proof of identity, in every tenant. */
const PROOF_WITHOUT_PASSWORD_MS = 10 * 60_000

/** @property listener receives change events of all processes; without it, a revocation takes effect within seconds */
export type AuthOptions = {
  db: Db
  secret: string
  publicUrl: string
  log: Log
  listener?: Listener
  /** Null or missing: the installation sends no email. */
  mailer?: Mailer | null
  sessions?: { idleHours: number; maxDays: number }
  /** Null or missing: no sign-in through a provider. */
  oidc?: Oidc | null
  ldap?: Ldap | null
}

export type SignInParts = ReturnType<typeof createSignInParts>

/** Functions that all kinds of sign-in share. */
export function createSignInParts(options: AuthOptions) {
  const { db, secret, publicUrl, log, sessions = { idleHours: 24, maxDays: 14 } } = options
  const [mailer, oidc, ldap] = [options.mailer ?? null, options.oidc ?? null, options.ldap ?? null]
  /** Tokens of new sign-in links, by email address. */
  const links = new Map<string, string>()
  const { joinedDb, changeSignIn } = createSignInChanges(db)
  const better = createBetterAuth({
    db: joinedDb,
    secret,
    publicUrl,
    log,
    sessionDays: sessions.maxDays,
    onLink: (email, token) => links.set(email, token),
    onReset: sendReset,
  })
  const internals = better.$context
  const callers = createCallers({ ...options, idleHours: sessions.idleHours })
  const throttle = createThrottle(db)

  function sendReset(email: string, token: string): void {
    const mail = passwordResetMail({ email, link: secretLink(publicUrl, '/reset-password', token) })
    void mailer?.send(mail).catch((error: Error) => log.error({ reason: error.message }, 'a password reset was not sent'))
  }

  /**
   * Calls a better-auth route with these cookies, which it signs. The session cookie that it sets is added to the response.
   * @property cookies by name without prefix
   * @throws Error better-auth failed; its route for new passkeys answers so to an invalid one, too
   */
  async function route(
    facts: RequestFacts,
    path: string,
    body?: object,
    cookies: Record<string, string> = {},
  ): Promise<Response> {
    const headers = new Headers({ origin: new URL(publicUrl).origin, 'x-muster-client': addressOf(facts) })
    const pairs = Object.entries(cookies).map(
      ([name, value]) => `${cookiePrefix(publicUrl)}.${name}=${signCookie(value, secret)}`,
    )
    if (pairs.length > 0) headers.set('cookie', pairs.join('; '))
    if (facts.headers.has('user-agent')) headers.set('user-agent', facts.headers.get('user-agent')!)
    if (body) headers.set('content-type', 'application/json')
    const url = new URL(`/api/auth${path}`, publicUrl)
    const response = await better.handler(
      new Request(url, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) }),
    )
    if (response.status >= 500 && path !== '/passkey/verify-registration') throw new Error(`sign-in answered ${response.status}`)
    for (const cookie of response.headers.getSetCookie())
      if (cookie.startsWith(`${sessionCookieName(publicUrl)}=`)) facts.responseHeaders?.append('set-cookie', cookie)
    return response
  }

  /** The text in a signed cookie that better-auth set; null when it set none. */
  function cookieOf(response: Response, name: string): string | null {
    const prefix = `${cookiePrefix(publicUrl)}.${name}=`
    const cookie = response.headers.getSetCookie().findLast((each) => each.startsWith(prefix))
    return cookie ? openCookie(cookie.slice(prefix.length).split(';', 1)[0]!, secret) : null
  }

  /** Ends a new session whose sign-in is rejected, and takes its cookie out of the response. */
  async function discardSession({ responseHeaders }: RequestFacts, token: string): Promise<void> {
    const cookies = responseHeaders?.getSetCookie() ?? []
    responseHeaders?.delete('set-cookie')
    for (const cookie of cookies)
      if (!cookie.startsWith(`${sessionCookieName(publicUrl)}=`)) responseHeaders?.append('set-cookie', cookie)
    await deleteSessions(db, eq(userSessions.token, hashToken(token)))
  }

  /** Why the session of this token has no tenant. */
  async function noAccessReason(token: string): Promise<string> {
    const [provider] = await findAccessProviders(db, token)
    if (!provider) return 'This user is not an active member of any tenant. Ask an owner for access.'
    const name = provider === 'oidc' ? oidc?.name : ldap?.name
    return name
      ? `Your groups at ${name} give you access only in sessions that begin there. Sign in with ${name}.`
      : 'Your access comes from an identity provider that is no longer configured. Ask an owner to invite you.'
  }

  /**
   * The caller of a new session, from the `token` in the response.
   * @param provider where the session began; null: not at an identity provider
   * @throws Unauthenticated
   */
  async function signedIn(
    facts: RequestFacts,
    response: Response,
    rejection: string,
    provider: IdentityProvider | null = null,
  ): Promise<SignedIn> {
    const { token } = response.ok ? ((await response.json()) as { token?: string }) : {}
    if (!token) throw new Unauthenticated(rejection)
    if (provider) await recordSessionStart(db, token, { provider })
    const viewer = await callers.read(token, facts.headers, true).catch(async (error: unknown) => {
      await discardSession(facts, token)
      throw error
    })
    if (!viewer) {
      const reason = await noAccessReason(token)
      await discardSession(facts, token)
      throw new Unauthenticated(reason)
    }
    await deleteSessions(db, and(eq(userSessions.userId, viewer.actor.id), not(callers.isUnexpired(userSessions)))!)
    return { viewer, sessionToken: token }
  }

  async function passwordOf(userId: string): Promise<string | null> {
    const userAccounts = await (await internals).internalAdapter.findAccounts(userId)
    return userAccounts.find((account) => account.providerId === 'credential')?.password ?? null
  }

  /** Whether it is the user's password; null when the user has none. @throws Unavailable after too many attempts */
  async function isCurrentPassword(
    facts: RequestFacts,
    caller: Caller,
    given: string | null | undefined,
  ): Promise<boolean | null> {
    const hash = await passwordOf(caller.actor.id)
    if (!hash) return null
    // The same counter as at sign-in, because it protects the same secret.
    const account = caller.email ?? caller.actor.id
    await throttle.attempt('password', addressOf(facts), account)
    if (!given || !(await (await internals).password.verify({ hash, password: given }))) return false
    await throttle.succeeded('password', account)
    return true
  }

  /**
   * For changes of how the user signs in. The password is a proof of identity; a user without one needs a recent other proof, so that a
   * stolen session does not suffice. A user who cannot sign in yet has none.
   * @throws InvalidInput when the user has a password and this is not it; StepUpRequired; Unavailable after too many attempts
   */
  async function checkCurrentPassword(facts: RequestFacts, caller: Caller, given: string | null | undefined): Promise<void> {
    const isRight = await isCurrentPassword(facts, caller, given)
    if (isRight === null) {
      assertIdentityConfirmed(caller)
      const isRecent = caller.authenticatedAt && caller.authenticatedAt.getTime() > Date.now() - PROOF_WITHOUT_PASSWORD_MS
      if (!isRecent && (await hasSignInMethod(db, caller.actor.id))) throw new StepUpRequired()
      return
    }
    if (!isRight) throw new InvalidInput([{ path: 'input.currentPassword', message: 'is not the current password' }])
    if (caller.sessionId) await recordIdentityProof(db, caller.sessionId)
    callers.clearCache()
  }

  return {
    db,
    publicUrl,
    log,
    mailer,
    oidc,
    ldap,
    better,
    internals,
    callers,
    throttle,
    addressOf,
    route,
    cookieOf,
    discardSession,
    signedIn,
    /** Runs a change of how the caller signs in, in one transaction with its audit entry. */
    changeSignIn,
    isCurrentPassword,
    checkCurrentPassword,
    /** The identity providers of the installation. */
    providers: [...(oidc ? (['oidc'] as const) : []), ...(ldap ? (['ldap'] as const) : [])] as readonly IdentityProvider[],
    /** The token of a sign-in link that better-auth has just created, once. */
    takeLink(email: string): string | undefined {
      const token = links.get(email)
      links.delete(email)
      return token
    },
  }
}
