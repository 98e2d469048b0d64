import { randomBytes } from 'node:crypto'
import {
  disconnectIdentity,
  type IdentityProvider,
  provisionUser,
  type Removable,
  sessionAudit,
  storeChallengeProvider,
  storeOidcFlow,
  takeOidcFlow,
  userAudit,
} from '@muster/core/access'
import { Conflict, InvalidInput, NotFound, SecondFactorRequired, Unauthenticated } from '@muster/core/errors'
import type { RequestFacts } from '../http/request-facts.ts'
import { EXTERNAL_SIGN_IN } from './better-auth.ts'
import type { Caller, CallerContext, SignedIn } from './caller.ts'
import type { CheckLdap, LdapPassword } from './check-ldap.ts'
import type { createIdentityConfirmation } from './confirm-identity.ts'
import { findUserOfIdentity, type Identity } from './identity.ts'
import type { SignInParts } from './parts.ts'
import { type AuditFacts, requestCtx } from './request-ctx.ts'
import { cookiePrefix, readCookie } from './session-cookie.ts'

const FLOW_SECONDS = 600
const NO_OIDC = 'This installation has no OpenID Connect provider (OIDC_ISSUER).'

type Parts = SignInParts & { checkLdap: CheckLdap } & Pick<
    ReturnType<typeof createIdentityConfirmation>,
    'isOwnIdentity' | 'confirmed' | 'sessionOf'
  >
type Context = RequestFacts & CallerContext & AuditFacts

/** Sign-in of people whom an identity provider authenticates. */
export function createExternalSignIn(parts: Parts) {
  const { db, publicUrl, oidc, ldap, providers, route, cookieOf, signedIn, throttle, addressOf, checkCurrentPassword, callers } =
    parts
  const { checkLdap, isOwnIdentity, confirmed, sessionOf } = parts
  const prefix = cookiePrefix(publicUrl)
  /** Binds a flow to the browser that started it. */
  const flowCookie = `${prefix}.oidc`
  /** Marks a browser that signed in through the provider. Signing out then continues at the provider. */
  const providerCookie = `${prefix}.provider`

  function setCookie({ responseHeaders }: RequestFacts, name: string, value: string, seconds: number | null) {
    const attributes = ['Path=/', 'HttpOnly', 'SameSite=Lax', ...(publicUrl.startsWith('https://') ? ['Secure'] : [])]
    if (seconds !== null) attributes.push(`Max-Age=${seconds}`)
    responseHeaders?.append('set-cookie', [`${name}=${value}`, ...attributes].join('; '))
  }

  /** The user of an identity, with the roles of its groups. @throws Conflict, Forbidden */
  async function userOf(context: Context, provider: IdentityProvider, identity: Identity, userId: string | null) {
    const { deps, attempt } = context
    // A sign-in records its session too, so only the connection of an identity is its own action.
    if (userId && attempt) attempt.action = userAudit.connectIdentity
    const ctx = { ...requestCtx(context), attempt: userId ? attempt : undefined }
    const { subject, email, isEmailVerified, name, roles } = identity
    const provisioned = { provider, subject, email, isEmailVerified, name, roles, userId }
    const { userId: id, unknownTenants, unknownRoles } = await provisionUser(ctx, provisioned).finally(callers.clearCache)
    if (unknownRoles.length > 0)
      deps.runtime.log.warn({ roles: unknownRoles }, `${provider.toUpperCase()}_ROLES names roles that do not exist`)
    if (unknownTenants.length > 0)
      deps.runtime.log.warn({ tenants: unknownTenants }, `${provider.toUpperCase()}_ROLES names tenants that do not exist`)
    return id
  }

  /** Signs in a user whom a provider has authenticated. @throws SecondFactorRequired */
  async function signInAs(context: Context, userId: string, provider: IdentityProvider): Promise<SignedIn> {
    const response = await route(context, EXTERNAL_SIGN_IN, { userId })
    const challenge = response.ok && cookieOf(response, 'two_factor')
    if (challenge) {
      await storeChallengeProvider(db, challenge, provider)
      throw new SecondFactorRequired(challenge)
    }
    return signedIn(context, response, 'The user was deleted at the same time.', provider)
  }

  return {
    oidc,
    ldap,

    /**
     * Signs in with a name and password of the LDAP directory, or, with `connect`, connects its entry with the signed-in user.
     * @throws NotFound, Unauthenticated, Unavailable, InvalidInput, Conflict, Forbidden, SecondFactorRequired
     */
    async signInWithLdap(context: Context, { userName, password, connect, currentPassword }: LdapInput): Promise<SignedIn> {
      const { caller } = context
      if (connect && !caller?.sessionToken) throw new InvalidInput([{ path: 'input.connect', message: 'needs a signed-in user' }])
      if (connect && caller) await checkCurrentPassword(context, caller, currentPassword)
      const identity = await checkLdap(context, { userName, password })
      const userId = await userOf(context, 'ldap', identity, connect && caller ? caller.actor.id : null)
      if (connect && caller?.sessionToken)
        return { viewer: (await callers.read(caller.sessionToken, context.headers)) ?? caller, sessionToken: caller.sessionToken }
      return signInAs(context, userId, 'ldap')
    },

    /**
     * Starts a sign-in at the provider, or, with `connect`, connects the identity of the signed-in user, or, with `confirm`, proves
     * that the signed-in user is there. @returns where the user goes
     * @throws NotFound, Unavailable, InvalidInput
     */
    async startOidcSignIn(
      context: Context,
      { connect, confirm, currentPassword }: StartOidc & { confirm?: boolean | null },
    ): Promise<{ url: string }> {
      if (!oidc) throw new NotFound(NO_OIDC)
      await throttle.attempt('oidc', addressOf(context))
      const { caller } = context
      if (connect && !caller?.sessionToken) throw new InvalidInput([{ path: 'input.connect', message: 'needs a signed-in user' }])
      if (connect && caller) await checkCurrentPassword(context, caller, currentPassword)
      if (confirm) sessionOf(context)
      const { url, flow } = await oidc.start({ isConfirmation: confirm === true })
      const token = randomBytes(32).toString('base64url')
      await storeOidcFlow(db, token, {
        ...flow,
        userId: (connect || confirm) && caller ? caller.actor.id : null,
        isConfirmation: confirm === true,
      })
      setCookie(context, flowCookie, token, FLOW_SECONDS)
      return { url }
    },

    /**
     * Completes a sign-in with the response of the provider. A user who only connects an identity keeps the session.
     * @param response query string of the redirect
     * @throws NotFound, Unauthenticated, Unavailable, Conflict, Forbidden, SecondFactorRequired
     */
    async finishOidcSignIn(context: Context, response: string): Promise<SignedIn> {
      if (!oidc) throw new NotFound(NO_OIDC)
      await throttle.attempt('oidc', addressOf(context))
      const token = readCookie(context.headers, flowCookie)
      const flow = token ? await takeOidcFlow(db, token) : null
      setCookie(context, flowCookie, '', 0)
      if (!flow)
        throw new Unauthenticated(
          'This sign-in was started in another browser, already used, or is older than ten minutes. Sign in again.',
        )
      const { caller } = context
      if (flow.userId && (flow.userId !== caller?.actor.id || !caller.sessionToken))
        throw new Unauthenticated('The session that started this has ended. Sign in again.')
      const identity = await oidc.finish(response, flow)
      const userEmail = (await findUserOfIdentity(db, 'oidc', identity.subject))?.email ?? identity.email?.toLowerCase()
      if (context.attempt && userEmail) context.attempt.userEmail = userEmail
      if (flow.isConfirmation) {
        if (context.attempt) context.attempt.action = sessionAudit.confirm
        const session = sessionOf(context)
        if (!(await isOwnIdentity(session.actor.id, 'oidc', identity.subject)))
          throw new Conflict('This identity is not connected to your account. Confirm with one that is.')
        return { viewer: await confirmed(context, session), sessionToken: session.sessionToken }
      }
      const userId = await userOf(context, 'oidc', identity, flow.userId)
      if (flow.userId && caller?.sessionToken)
        return { viewer: (await callers.read(caller.sessionToken, context.headers)) ?? caller, sessionToken: caller.sessionToken }
      setCookie(context, providerCookie, 'oidc', null)
      return signInAs(context, userId, 'oidc')
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

    /** Where a browser that signed in through the provider ends its session there; null otherwise. */
    async signOutUrl(facts: RequestFacts): Promise<string | null> {
      if (readCookie(facts.headers, providerCookie) !== 'oidc') return null
      setCookie(facts, providerCookie, '', 0)
      return oidc ? oidc.signOutUrl() : null
    },
  }
}

type LdapInput = LdapPassword & StartOidc
type StartOidc = { connect?: boolean | null; currentPassword?: string | null }
