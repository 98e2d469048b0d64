import { hkdfSync } from 'node:crypto'
import { accessChanged } from '@muster/core/access'
import type { Db } from '@muster/core/db'
import { Conflict, InvalidInput, NotFound, Unauthenticated } from '@muster/core/errors'
import type { Listener } from '@muster/core/events'
import type { Log } from '@muster/core/log'
import { schema } from '@muster/core/registry'
import { and, eq, not } from 'drizzle-orm'
import { clientAddress, type RequestFacts } from '../http/request-facts.ts'
import { createBetterAuth, PASSWORD_LENGTH } from './better-auth.ts'
import type { Caller, CallerContext } from './caller.ts'
import { createCallers } from './callers.ts'
import { sessionCookieName, signCookie } from './session-cookie.ts'
import { endOtherSessions, endSession } from './sessions.ts'
import { createThrottle } from './throttle.ts'

const { members, sessions: userSessions, users } = schema

export type Auth = ReturnType<typeof createAuth>
type SignedIn = { viewer: Caller; sessionToken: string }

/** Derives the cookie signing key from the master password when AUTH_SECRET is not set. */
export const deriveAuthSecret = (masterPassword: string): string =>
  Buffer.from(hkdfSync('sha256', masterPassword, 'muster', 'auth secret 1', 32)).toString('base64url')

/**
 * @property listener receives change events of all processes; without it, a revocation takes effect within seconds
 * @property trustProxy see `clientAddress`
 */
type AuthOptions = {
  db: Db
  secret: string
  publicUrl: string
  log: Log
  listener?: Listener
  trustProxy?: boolean
  sessions?: { idleHours: number; maxDays: number }
}

/** Sign-in, sessions and tokens. better-auth stores passwords and sessions; its HTTP routes are not exposed. */
export function createAuth(options: AuthOptions) {
  const { db, secret, publicUrl, log, trustProxy, sessions = { idleHours: 24, maxDays: 14 } } = options
  const links = new Map<string, string>()
  const better = createBetterAuth({
    db,
    secret,
    publicUrl,
    log,
    sessionDays: sessions.maxDays,
    onLink: (email, token) => links.set(email, token),
  })
  const internals = better.$context
  const callers = createCallers({ ...options, idleHours: sessions.idleHours })

  const throttle = createThrottle(db)
  const addressOf = (facts: Pick<RequestFacts, 'headers'>) => clientAddress(facts, trustProxy)

  /** Calls a better-auth route. Cookies that it sets are added to the response. */
  async function route(facts: RequestFacts, path: string, body?: object, sessionToken?: string | null): Promise<Response> {
    const headers = new Headers({ origin: new URL(publicUrl).origin, 'x-muster-client': addressOf(facts) })
    if (sessionToken) headers.set('cookie', `${sessionCookieName(publicUrl)}=${signCookie(sessionToken, secret)}`)
    if (facts.headers.has('user-agent')) headers.set('user-agent', facts.headers.get('user-agent')!)
    if (body) headers.set('content-type', 'application/json')
    const url = new URL(`/api/auth${path}`, publicUrl)
    const response = await better.handler(
      new Request(url, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) }),
    )
    if (response.status >= 500) throw new Error(`sign-in answered ${response.status}`)
    for (const cookie of response.headers.getSetCookie()) facts.responseHeaders?.append('set-cookie', cookie)
    return response
  }

  async function signedIn(response: Response, rejection: string): Promise<SignedIn> {
    const { token } = response.ok ? ((await response.json()) as { token?: string }) : {}
    if (!token) throw new Unauthenticated(rejection)
    const viewer = await callers.read(token)
    if (!viewer) throw new Unauthenticated('This user is not a member of any tenant. Ask an owner to add the user as a member.')
    await db.delete(userSessions).where(and(eq(userSessions.userId, viewer.actor.id), not(callers.isLiveSession(userSessions))))
    return { viewer, sessionToken: token }
  }

  async function passwordOf(userId: string): Promise<string | null> {
    const userAccounts = await (await internals).internalAdapter.findAccounts(userId)
    return userAccounts.find((account) => account.providerId === 'credential')?.password ?? null
  }

  /** @throws InvalidInput when the user has a password and this is not it; Unavailable after too many attempts */
  async function checkCurrentPassword(facts: RequestFacts, caller: Caller, given: string | null | undefined): Promise<void> {
    const hash = await passwordOf(caller.actor.id)
    if (!hash) return
    // The same counter as at sign-in: it is the same secret.
    const account = caller.email ?? caller.actor.id
    await throttle.attempt('password', addressOf(facts), account)
    if (!given || !(await (await internals).password.verify({ hash, password: given })))
      throw new InvalidInput([{ path: 'input.currentPassword', message: 'is not the current password' }])
    await throttle.succeeded('password', account)
  }

  return {
    findCaller: callers.find,
    /** Calls back when the caller of a stream loses its access, see `createCallers`. */
    watchCaller: callers.watch,
    accessOf: callers.accessOf,
    isLiveSession: callers.isLiveSession,
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
    /** Clears the caller cache, so that a revoked session or token is rejected immediately. */
    clearCallerCache: callers.clearCache,

    async signIn(facts: RequestFacts, input: { email: string; password: string }): Promise<SignedIn> {
      const email = input.email.trim()
      await throttle.attempt('password', addressOf(facts), email)
      const response = await route(facts, '/sign-in/email', { ...input, email })
      if (response.ok) await throttle.succeeded('password', email)
      return signedIn(response, 'The email address or the password is wrong.')
    },

    async signInWithLink(facts: RequestFacts, token: string): Promise<SignedIn> {
      const linkInvalid =
        'This sign-in link was already used, or is older than 24 hours. Muster prints a new one when it starts, while the owner has no password.'
      await throttle.attempt('link', addressOf(facts))
      const session = await signedIn(await route(facts, `/magic-link/verify?token=${encodeURIComponent(token)}`), linkInvalid)
      // An older link must not bypass the password.
      if (await passwordOf(session.viewer.actor.id)) {
        facts.responseHeaders?.delete('set-cookie')
        await (await internals).internalAdapter.deleteSession(session.sessionToken)
        throw new Unauthenticated('A password was set after this link was created. Sign in with the password.')
      }
      return session
    },

    async signOut({ caller, ctx, ...facts }: RequestFacts & CallerContext): Promise<boolean> {
      if (facts.headers.has('cookie')) await route(facts, '/sign-out', {}, caller?.sessionToken)
      if (!caller?.sessionToken) return false
      await (await internals).internalAdapter.deleteSession(caller.sessionToken)
      callers.clearCache()
      ctx.notify(accessChanged({ id: caller.actor.id, tenantId: caller.tenantId }))
      return true
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
      if (name || email) await internalAdapter.updateUser(id, { ...(name ? { name } : {}), ...(email ? { email } : {}) })
      await endOtherSessions(ctx, caller)
      callers.clearCache()
      ctx.log.info({ user: id }, 'password set')
      return (await callers.read(caller.sessionToken)) ?? caller
    },

    /** Returns the user with this email address, and creates it if missing. Used by the first start. */
    async ensureUser(email: string, name: string): Promise<{ id: string; hasPassword: boolean }> {
      const { internalAdapter } = await internals
      const address = email.toLowerCase()
      const existing = await internalAdapter.findUserByEmail(address)
      const user =
        existing?.user ??
        (await internalAdapter.createUser({ email: address, name, emailVerified: true }, { method: 'first-start' }))
      return { id: user.id, hasPassword: (await passwordOf(user.id)) !== null }
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
