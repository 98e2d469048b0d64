import { hkdfSync } from 'node:crypto'
import {
  acceptInvitation,
  accessChanged,
  createThrottle,
  deleteSessions,
  disconnectIdentity,
  findInvitationByToken,
  hashToken,
  hasLocalSignIn,
  hasSignInMethod,
  INVITATION_INVALID,
  type Removable,
  recordIdentityProof,
  resetPassword,
  sessionAudit,
  switchTenant,
} from '@muster/core/access'
import { audit } from '@muster/core/audit'
import { assertIdentityConfirmed } from '@muster/core/context'
import type { Db } from '@muster/core/db'
import { Conflict, InvalidInput, NotFound, SecondFactorRequired, Unauthenticated, Unavailable } from '@muster/core/errors'
import type { Listener } from '@muster/core/events'
import { Id } from '@muster/core/input'
import type { Log } from '@muster/core/log'
import { schema } from '@muster/core/registry'
import { and, eq, not } from 'drizzle-orm'
import { clientAddress as addressOf, type RequestFacts } from '../http/request-facts.ts'
import type { Mailer } from '../mail/mailer.ts'
import { passwordResetMail, secretLink } from '../mail/mails.ts'
import { createBetterAuth, PASSWORD_LENGTH } from './better-auth.ts'
import type { Caller, CallerContext, SignedIn } from './caller.ts'
import { createCallers } from './callers.ts'
import { createLdapCheck } from './check-ldap.ts'
import { createIdentityConfirmation } from './confirm-identity.ts'
import { createDeviceSignIn } from './device-sign-in.ts'
import { createExternalSignIn } from './external.ts'
import type { Ldap } from './ldap.ts'
import type { Oidc } from './oidc.ts'
import type { SignInParts } from './parts.ts'
import { createPasskeys } from './passkeys.ts'
import { type AuditFacts, requestCtx } from './request-ctx.ts'
import { createSecondFactor } from './second-factor.ts'
import { cookiePrefix, openCookie, sessionCookieName, signCookie } from './session-cookie.ts'
import { endOtherSessions, endSession } from './sessions.ts'
import { createSignInChanges } from './sign-in-changes.ts'

const { members, sessions: userSessions, users } = schema

const WRONG_PASSWORD = 'The email address or the password is wrong.'

export type Auth = ReturnType<typeof createAuth>

/** Derives the cookie signing key from the master password when AUTH_SECRET is not set. */
export const deriveAuthSecret = (masterPassword: string): string =>
  Buffer.from(hkdfSync('sha256', masterPassword, 'muster', 'auth secret 1', 32)).toString('base64url')

/**
 * @property listener receives change events of all processes; without it, a revocation takes effect within seconds
 */
type AuthOptions = {
  db: Db
  secret: string
  publicUrl: string
  log: Log
  listener?: Listener
  /** Null or missing: the installation sends no mail. */
  mailer?: Mailer | null
  sessions?: { idleHours: number; maxDays: number }
  /** Null or missing: no sign-in through a provider. */
  oidc?: Oidc | null
  ldap?: Ldap | null
}

/** Sign-in, sessions and tokens. better-auth stores passwords and sessions; its HTTP routes are not exposed. */
export function createAuth(options: AuthOptions) {
  const { db, secret, publicUrl, log, mailer, oidc = null, ldap = null, sessions = { idleHours: 24, maxDays: 14 } } = options
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

  async function discardSession({ responseHeaders }: RequestFacts, token: string): Promise<void> {
    const cookies = responseHeaders?.getSetCookie() ?? []
    responseHeaders?.delete('set-cookie')
    for (const cookie of cookies)
      if (!cookie.startsWith(`${sessionCookieName(publicUrl)}=`)) responseHeaders?.append('set-cookie', cookie)
    await deleteSessions(db, eq(userSessions.token, hashToken(token)))
  }

  async function signedIn(facts: RequestFacts, response: Response, rejection: string): Promise<SignedIn> {
    const { token } = response.ok ? ((await response.json()) as { token?: string }) : {}
    if (!token) throw new Unauthenticated(rejection)
    const viewer = await callers.read(token, facts.headers, true).catch(async (error: unknown) => {
      await discardSession(facts, token)
      throw error
    })
    if (!viewer) {
      await discardSession(facts, token)
      throw new Unauthenticated('This user is not an active member of any tenant. Ask an owner for access.')
    }
    await deleteSessions(db, and(eq(userSessions.userId, viewer.actor.id), not(callers.isUnexpired(userSessions)))!)
    return { viewer, sessionToken: token }
  }

  async function newUserOf(name: string, password: string): Promise<{ name: string; passwordHash: string }> {
    checkPassword(password)
    return { name, passwordHash: await (await internals).password.hash(password) }
  }

  async function passwordOf(userId: string): Promise<string | null> {
    const userAccounts = await (await internals).internalAdapter.findAccounts(userId)
    return userAccounts.find((account) => account.providerId === 'credential')?.password ?? null
  }

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

  async function checkCurrentPassword(facts: RequestFacts, caller: Caller, given: string | null | undefined): Promise<void> {
    const isRight = await isCurrentPassword(facts, caller, given)
    if (isRight === null) return assertIdentityConfirmed(caller)
    if (!isRight) throw new InvalidInput([{ path: 'input.currentPassword', message: 'is not the current password' }])
    if (caller.sessionId) await recordIdentityProof(db, caller.sessionId)
    callers.clearCache()
  }

  const providers = [...(oidc ? (['oidc'] as const) : []), ...(ldap ? (['ldap'] as const) : [])]
  const parts: SignInParts = {
    db,
    publicUrl,
    route,
    cookieOf,
    signedIn,
    discardSession,
    changeSignIn,
    throttle,
    addressOf,
    isCurrentPassword,
    checkCurrentPassword,
    callers,
    providers,
  }
  const checkLdap = createLdapCheck({ ...parts, ldap })
  const { isOwnPasskey, ...passkeys } = createPasskeys(parts)
  const { isOwnIdentity, confirmed, sessionOf, ...confirmation } = createIdentityConfirmation({
    ...parts,
    isOwnPasskey,
    checkLdap,
  })
  const { signOutUrl, ...external } = createExternalSignIn({
    ...parts,
    oidc,
    ldap,
    checkLdap,
    isOwnIdentity,
    confirmed,
    sessionOf,
  })

  return {
    ...createSecondFactor(parts),
    ...passkeys,
    ...confirmation,
    ...createDeviceSignIn(parts),
    ...external,
    providers,
    findCaller: callers.find,
    /** Calls back when the caller of a stream loses its access, see `createCallers`. */
    watchCaller: callers.watch,
    isLiveSession: callers.isLiveSession,
    discardSession,
    /** IDs of the tenants of the user with this email address, at most ten. For the audit log only. */
    async tenantsOf(email: string): Promise<string[]> {
      const rows = await db
        .select({ tenantId: members.tenantId })
        .from(members)
        .innerJoin(users, eq(users.id, members.userId))
        .where(eq(users.email, email))
        .limit(10)
      return rows.map((row) => row.tenantId)
    },
    /** Email address of the user who has to give a code for this challenge; null for other texts. For the audit log only. */
    async emailOfChallenge(challenge: unknown): Promise<string | null> {
      if (typeof challenge !== 'string') return null
      const row = await (await internals).internalAdapter.findVerificationValue(challenge)
      // The challenge of a passkey belongs to no user, and its value is no ID.
      if (!row || !Id.safeParse(row.value).success) return null
      const [user] = await db.select({ email: users.email }).from(users).where(eq(users.id, row.value))
      return user?.email ?? null
    },
    /** Clears the caller cache, so that a revoked session or token is rejected immediately. */
    clearCallerCache: callers.clearCache,

    async signIn(facts: RequestFacts, input: { email: string; password: string }): Promise<SignedIn> {
      const email = input.email.trim()
      await throttle.attempt('password', addressOf(facts), email)
      const response = await route(facts, '/sign-in/email', { ...input, email })
      if (response.ok) await throttle.succeeded('password', email, addressOf(facts))
      const challenge = response.ok && cookieOf(response, 'two_factor')
      if (challenge) throw new SecondFactorRequired(challenge)
      return signedIn(facts, response, WRONG_PASSWORD)
    },

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

    /** `continueUrl`: where the browser ends its session at the provider; null when it did not sign in there. */
    async signOut({
      caller,
      ctx,
      ...facts
    }: RequestFacts & CallerContext): Promise<{ wasSignedIn: boolean; continueUrl: string | null }> {
      const continueUrl = await signOutUrl(facts)
      const { sessionToken } = caller ?? {}
      const end = async () => {
        if (facts.headers.has('cookie')) await route(facts, '/sign-out', {}, sessionToken ? { session_token: sessionToken } : {})
        if (sessionToken) await (await internals).internalAdapter.deleteSession(sessionToken)
      }
      if (!caller || !sessionToken) {
        await end()
        return { wasSignedIn: false, continueUrl }
      }
      await changeSignIn(ctx, async (tx, ctx) => {
        await end()
        await audit(tx, ctx, sessionAudit.end, { id: caller.sessionId, name: caller.actor.name })
      })
      callers.clearCache()
      ctx.notify(accessChanged({ id: caller.actor.id, tenantId: caller.tenantId }))
      return { wasSignedIn: true, continueUrl }
    },

    /** Ends one session of the user. @throws NotFound */
    async endSession({ ctx, caller }: CallerContext, id: string): Promise<void> {
      const userId = caller?.actor.kind === 'user' ? caller.actor.id : null
      if (!userId || !(await endSession(ctx, userId, id))) throw new NotFound(`There is no session with the ID ${id}.`)
      callers.clearCache()
    },

    /** Ends all other sessions of the user. @returns how many */
    async endOtherSessions({ ctx, caller }: CallerContext): Promise<number> {
      const count = caller ? await endOtherSessions(ctx, caller) : 0
      callers.clearCache()
      return count
    },

    async setPassword({ ctx, caller, ...facts }: RequestFacts & CallerContext, input: SetPassword): Promise<Caller> {
      if (!caller?.sessionToken)
        throw new InvalidInput([{ path: '', message: 'an API token has no password; sign in as a user' }])
      const { password, internalAdapter } = await internals
      const { id } = caller.actor
      const currentHash = await passwordOf(id)
      checkPassword(input.password)
      await checkCurrentPassword(facts, caller, input.currentPassword)
      const [name, email] = [input.name?.trim() || undefined, input.email?.trim().toLowerCase() || undefined]
      if (email && email !== caller.email) await checkEmail(db, email)
      const hash = await password.hash(input.password)
      if (currentHash) await internalAdapter.updatePassword(id, hash)
      else await internalAdapter.linkAccount({ userId: id, accountId: id, providerId: 'credential', password: hash })
      if (name || email)
        await internalAdapter.updateUser(id, {
          ...(name ? { name } : {}),
          ...(email && email !== caller.email ? { email, emailVerified: false } : {}),
        })
      await endOtherSessions(ctx, caller)
      callers.clearCache()
      ctx.log.info({ user: id }, 'password set')
      return (await callers.read(caller.sessionToken, facts.headers)) ?? caller
    },

    /**
     * Removes the password (`credential`) or the identities at a provider.
     * @throws NotFound; Conflict it is the last way to sign in
     */
    async disconnectIdentity(
      { ctx, caller, ...facts }: RequestFacts & CallerContext,
      { provider, currentPassword }: { provider: Removable; currentPassword?: string | null },
    ): Promise<Caller> {
      if (!caller?.sessionToken)
        throw new InvalidInput([{ path: '', message: 'an API token has no identities; sign in as a user' }])
      if (provider === 'passkey')
        throw new InvalidInput([{ path: 'input.kind', message: 'must not be PASSKEY; use removePasskey' }])
      await checkCurrentPassword(facts, caller, currentPassword)
      await disconnectIdentity({ ...ctx, db: ctx.systemDb }, { provider }, providers)
      return caller
    },

    /**
     * Sends a link that sets a new password, if a user has this address. The answer is the same for all addresses.
     * @throws Unavailable when the installation sends no mail
     */
    async requestPasswordReset(facts: RequestFacts, email: string): Promise<void> {
      if (!mailer)
        throw new Unavailable(
          'This installation sends no mail. Ask an administrator to run bin/muster-admin reset-owner on the server.',
        )
      await throttle.attempt('reset', addressOf(facts), email)
      const response = await route(facts, '/request-password-reset', { email: email.trim() })
      if (!response.ok) throw new InvalidInput([{ path: 'input.email', message: 'must be an email address' }])
    },

    /** Sets a new password with the token of a mail. All sessions of the user end. @throws Unauthenticated the token is invalid */
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

    /**
     * Makes the holder of an invitation a member, and signs in. Without a session, the password is the one of the existing account, or
     * the first one of a new user.
     * @throws NotFound, Conflict, Forbidden, InvalidInput; Unauthenticated the password of the account is wrong
     */
    async acceptInvitation(context: RequestFacts & CallerContext & AuditFacts, input: Acceptance): Promise<SignedIn> {
      const { caller, headers } = context
      const { token, password } = input
      await throttle.attempt('invitation', addressOf(context))
      const muster = requestCtx(context)
      if (caller?.sessionToken && caller.sessionId) {
        const { member } = await acceptInvitation(muster, { token, userId: caller.actor.id, newUser: null })
        await switchTenant({ ...muster, actor: caller.actor }, { sessionId: caller.sessionId, tenantId: member.tenantId })
        callers.clearCache()
        return { viewer: (await callers.read(caller.sessionToken, headers))!, sessionToken: caller.sessionToken }
      }
      const invitation = await findInvitationByToken(db, token)
      if (!invitation) throw new NotFound(INVITATION_INVALID)
      if (!password) throw new InvalidInput([{ path: 'input.password', message: 'is missing' }])
      const { email, hasAccount } = invitation
      await throttle.attempt('password', addressOf(context), email)
      const signIn = () => route(context, '/sign-in/email', { email, password })
      if (!hasAccount) {
        if (!input.name) throw new InvalidInput([{ path: 'input.name', message: 'is missing' }])
        await acceptInvitation(muster, { token, userId: null, newUser: await newUserOf(input.name, password) })
        return signedIn(context, await signIn(), WRONG_PASSWORD)
      }
      const response = await signIn()
      const account = response.ok ? await (await internals).internalAdapter.findUserByEmail(email) : null
      if (!account) throw new Unauthenticated(WRONG_PASSWORD)
      await throttle.succeeded('password', email, addressOf(context))
      if (cookieOf(response, 'two_factor'))
        throw new Unauthenticated('This account uses an authenticator app. Sign in first, then open the invitation again.')
      await acceptInvitation(muster, { token, userId: account.user.id, newUser: null }).catch(async (error: unknown) => {
        await discardSession(context, cookieOf(response, 'session_token')!)
        throw error
      })
      return signedIn(context, response, WRONG_PASSWORD)
    },

    /** Changes the tenant in which the session works. @throws Forbidden; InvalidInput for an API token */
    async switchTenant({ caller, ctx, headers }: RequestFacts & CallerContext, tenantId: string): Promise<Caller> {
      if (!caller?.sessionToken || !caller.sessionId)
        throw new InvalidInput([{ path: '', message: 'an API token belongs to one tenant; use a token of the other tenant' }])
      await switchTenant({ ...ctx, db: ctx.systemDb }, { sessionId: caller.sessionId, tenantId })
      callers.clearCache()
      return (await callers.read(caller.sessionToken, headers)) ?? caller
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
      const token = links.get(email)
      links.delete(email)
      if (!token) throw new Error('better-auth created no sign-in link')
      return token
    },
  }
}

type Acceptance = { token: string; name?: string | null; password?: string | null }
type SetPassword = { password: string; currentPassword?: string | null; name?: string | null; email?: string | null }

function checkPassword(password: string): void {
  const { min, max } = PASSWORD_LENGTH
  if (password.length < min || password.length > max)
    throw new InvalidInput([{ path: 'input.password', message: `must have ${min} to ${max} characters` }])
}

async function checkEmail(db: Db, email: string): Promise<void> {
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new InvalidInput([{ path: 'input.email', message: 'must be an email address' }])
  if ((await db.$count(users, eq(users.email, email))) > 0)
    throw new Conflict(`A user with the email address ${email} already exists. Use another address.`)
}
