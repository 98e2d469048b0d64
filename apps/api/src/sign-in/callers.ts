import { accessChanged, findActorByToken, findMemberships, hashToken, recordSessionUse } from '@muster/core/access'
import type { Db } from '@muster/core/db'
import { Forbidden } from '@muster/core/errors'
import type { Listener } from '@muster/core/events'
import type { Log } from '@muster/core/log'
import { authorityOf } from '@muster/core/permissions'
import { schema } from '@muster/core/registry'
import { and, eq, gt, sql } from 'drizzle-orm'
import { clientAddress } from '../http/request-facts.ts'
import type { Caller } from './caller.ts'
import { assertTokenTenant, chooseMembership, TENANT_HEADER } from './choose-tenant.ts'
import { createJwt, deriveJwtKey, readJwt } from './jwt.ts'
import { openCookie, readCookie, sessionCookieName } from './session-cookie.ts'

const { sessions, users } = schema

/** Cache lifetime of a caller. A change event of any process clears the cache; a lost event delays a revocation by this time. */
const CALLER_CACHE_MS = 4000
const CALLER_CACHE_MAX = 10_000
/** Interval at which the callers of open streams are read again. A revocation then takes effect even if its change event is lost. */
const WATCH_MS = 3000

/** Why a stream must end: the caller lost access, or has another role or tenant. */
export type AccessLoss = 'revoked' | 'changed'
type Watch = { token: string; headers: Headers; access: string; end: (loss: AccessLoss) => void }

/** Everything that decides what a caller may do. */
const accessOf = ({ actor, tenantId }: Caller) =>
  JSON.stringify([actor, tenantId], (_key, value) => (value instanceof Set ? [...value].sort() : value))

export type Callers = ReturnType<typeof createCallers>
/** @property idleHours see SESSION_IDLE_HOURS */
type CallersOptions = {
  db: Db
  secret: string
  publicUrl: string
  log: Log
  listener?: Listener
  idleHours: number
}

/** Identifies the callers of requests by session or API token, and watches the callers of open streams. */
export function createCallers({ db, secret, publicUrl, log, listener, idleHours }: CallersOptions) {
  const cache = new Map<string, { caller: Caller; until: number }>()
  const jwtKey = deriveJwtKey(secret)
  const watches = new Set<Watch>()
  let timer: NodeJS.Timeout | undefined
  let isChecking = false
  let checkAgain = false

  const isUnexpired = (table: Pick<typeof sessions, 'expiresAt' | 'lastUsedAt'>) =>
    and(gt(table.expiresAt, sql`now()`), gt(table.lastUsedAt, sql`now() - make_interval(secs => ${idleHours * 3600})`))!
  const isLiveSession = (table: Pick<typeof sessions, 'expiresAt' | 'lastUsedAt' | 'isActive'>) =>
    and(table.isActive, isUnexpired(table))!

  /** The session, API token or JWT of a request. A cookie counts only with a valid signature. */
  function tokenOf(headers: Headers): string | null {
    const bearer = /^bearer\s+(\S{1,500})$/i.exec(headers.get('authorization') ?? '')
    if (bearer) return bearer[1]!
    const cookie = readCookie(headers, sessionCookieName(publicUrl))
    return cookie ? openCookie(cookie, secret) : null
  }

  /**
   * Reads the caller from the database; null when the token is not valid.
   * @param headers of the request: the wanted tenant and the client's address, on which API tokens depend
   * @param isNew accepts a session whose sign-in is not recorded yet
   * @throws Forbidden the wanted tenant is not one of the caller's
   */
  async function read(token: string, headers: Headers, isNew = false): Promise<Caller | null> {
    const wanted = headers.get(TENANT_HEADER)
    const isJwt = token.includes('.')
    if (isJwt || token.startsWith('mst_')) {
      const id = isJwt ? await readJwt(jwtKey, token) : null
      if (isJwt && id === null) return null
      const found = await findActorByToken(db, id === null ? token : { id }, clientAddress({ headers }))
      if (found?.actor.kind !== 'token') return null
      assertTokenTenant(found, wanted)
      return {
        actor: found.actor,
        tenantId: found.tenantId,
        email: null,
        sessionToken: null,
        sessionId: null,
        identityConfirmedUntil: null,
        provider: null,
        authenticatedAt: null,
      }
    }
    const [row] = await db
      .select({
        id: users.id,
        name: users.name,
        email: users.email,
        isInstallationAdmin: users.isInstallationAdmin,
        sessionId: sessions.id,
        authenticatedAt: sessions.authenticatedAt,
        provider: sessions.provider,
        activeTenantId: sessions.activeTenantId,
      })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(and(eq(sessions.token, hashToken(token)), (isNew ? isUnexpired : isLiveSession)(sessions)))
    if (!row) return null
    const { id, name, email, isInstallationAdmin, sessionId, authenticatedAt, provider, activeTenantId } = row
    const membership = chooseMembership(await findMemberships(db, id, provider), { wanted, activeTenantId })
    if (!membership) return null
    const { tenantId, authority, stepUpMinutes } = membership
    const { role, permissions, grants } = authority
    return {
      actor: { kind: 'user', id, name, ...authorityOf({ name: role, permissions }, { isInstallationAdmin, grants }) },
      tenantId,
      email,
      sessionToken: token,
      sessionId,
      provider,
      authenticatedAt,
      identityConfirmedUntil: stepUpMinutes === null ? null : new Date(authenticatedAt.getTime() + stepUpMinutes * 60_000),
    }
  }

  /** Everything that decides which caller a request has. */
  const keyOf = (token: string, headers: Headers) => [token, headers.get(TENANT_HEADER), clientAddress({ headers })].join('\n')

  /** The caller that the bearer token or cookie identifies; null without a valid one. */
  async function find(headers: Headers): Promise<Caller | null> {
    const token = tokenOf(headers)
    if (!token) return null
    const key = keyOf(token, headers)
    const cached = cache.get(key)
    if (cached && cached.until > Date.now()) return cached.caller
    const caller = await read(token, headers)
    if (caller?.sessionId)
      await recordSessionUse(db, caller.sessionId, {
        ipAddress: clientAddress({ headers }),
        userAgent: headers.get('user-agent')?.slice(0, 500) ?? null,
      })
    // Unknown tokens are not cached: anyone can send any number of them.
    if (!caller) return null
    if (cache.size >= CALLER_CACHE_MAX) cache.delete(cache.keys().next().value!)
    cache.delete(key)
    cache.set(key, { caller, until: Date.now() + CALLER_CACHE_MS })
    return caller
  }

  /** Like `read`; null also when the caller is no longer a member of the wanted tenant. */
  const readIfMember = (token: string, headers: Headers) =>
    read(token, headers).catch((error: unknown) => {
      if (error instanceof Forbidden) return null
      throw error
    })

  /** Reads the callers of all streams and ends streams when the access of their caller changed. This does not count as use of a session. */
  async function check(): Promise<void> {
    checkAgain = true
    if (isChecking) return
    isChecking = true
    try {
      while (checkAgain) {
        checkAgain = false
        const byKey = Map.groupBy(watches, ({ token, headers }) => keyOf(token, headers))
        for (const ofToken of byKey.values()) {
          const { token, headers } = ofToken[0]!
          const caller = await readIfMember(token, headers)
          const access = caller && accessOf(caller)
          for (const watch of ofToken)
            if (watches.has(watch) && watch.access !== access) {
              stopWatching(watch)
              watch.end(caller ? 'changed' : 'revoked')
            }
        }
      }
    } catch (error) {
      log.warn({ err: error }, 'cannot check the callers of open streams; trying again')
    } finally {
      isChecking = false
    }
  }

  function stopWatching(watch: Watch): void {
    watches.delete(watch)
    if (watches.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  const accessMayHaveChanged = () => {
    cache.clear()
    if (watches.size > 0) void check()
  }
  listener?.on(accessChanged, null, accessMayHaveChanged)
  listener?.onReconnect(accessMayHaveChanged)

  return {
    find,
    read,
    tokenOf,
    /** Condition of sessions that are accepted. */
    isLiveSession,
    /** Condition of sessions that have not expired, with those whose sign-in is not recorded yet. */
    isUnexpired,
    clearCache: () => cache.clear(),
    /** The JWT of an API token. */
    jwtOf: (apiToken: { id: string; expiresAt: Date }) => createJwt(jwtKey, apiToken),
    /**
     * Calls `end` once, within seconds, when the caller of a stream loses its access or gets another. Does nothing without a caller.
     * @param caller as `find` returned it for these headers when the stream was opened
     * @returns a function that stops watching
     */
    watch(headers: Headers, caller: Caller | null, end: (loss: AccessLoss) => void): () => void {
      const token = tokenOf(headers)
      if (!token || !caller) return () => {}
      const watch: Watch = { token, headers, access: accessOf(caller), end }
      watches.add(watch)
      timer ??= setInterval(() => void check(), WATCH_MS).unref()
      return () => stopWatching(watch)
    },
  }
}
