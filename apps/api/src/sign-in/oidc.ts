import { readFileSync } from 'node:fs'
import { type OidcFlow, type oidcSettings, rolesOf } from '@muster/core/access'
import type { Config } from '@muster/core/config'
import { type DomainError, Unauthenticated, Unavailable } from '@muster/core/errors'
import { type LocalTarget, RequestError, TargetError } from '@muster/core/outbound'
import type { Observation } from '@muster/core/system'
import * as client from 'openid-client'
import type { Identity } from './identity.ts'
import { createProviderRequest } from './provider-request.ts'

/** Lifetime of the provider's metadata. The library reads its keys again when it meets an unknown one. */
const METADATA_MS = 3_600_000
const MAX_GROUPS = 5000

/** Longest time between the proof at the provider and the return to Muster: other factors take a while. */
const CONFIRMATION_MAX_AGE_S = 300

type Flow = Pick<OidcFlow, 'state' | 'nonce' | 'codeVerifier'>

export type Oidc = ReturnType<typeof createOidc>

/**
 * The OpenID Connect provider of the installation: authorization code with PKCE. openid-client checks state, nonce, issuer, audience,
 * times and the signature of the ID token.
 * @throws Error when settings are missing, or the file with the client secret cannot be read
 */
export function createOidc(
  { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET_FILE, ...config }: Config<typeof oidcSettings>,
  { publicUrl, defaultTenant, localTargets }: { publicUrl: string; defaultTenant: string; localTargets: readonly LocalTarget[] },
) {
  if (!OIDC_ISSUER) return null
  if (!OIDC_CLIENT_ID) throw new Error('OIDC_ISSUER requires OIDC_CLIENT_ID. Register Muster at the provider.')
  const issuer = new URL(OIDC_ISSUER)
  const clientId = OIDC_CLIENT_ID
  const authentication = clientAuthentication(OIDC_CLIENT_SECRET_FILE)
  const redirectUri = new URL('/sign-in/oidc', publicUrl).href
  let metadata: { configuration: Promise<client.Configuration>; until: number } | null = null

  function configuration(): Promise<client.Configuration> {
    if (!metadata || metadata.until < Date.now()) {
      const configuration = client.discovery(issuer, clientId, {}, authentication, {
        [client.customFetch]: createProviderRequest(localTargets),
        ...(issuer.protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : {}),
      })
      metadata = { configuration, until: Date.now() + METADATA_MS }
      configuration.catch(() => {
        metadata = null
      })
    }
    return metadata.configuration
  }

  async function claimsOf(configuration: client.Configuration, tokens: client.TokenEndpointResponse, own: client.IDToken) {
    const isComplete = own.email !== undefined && groupsIn(own, config.OIDC_GROUPS_CLAIM) !== null
    if (isComplete || !configuration.serverMetadata().userinfo_endpoint) return own
    return { ...(await client.fetchUserInfo(configuration, tokens.access_token, own.sub)), ...own }
  }

  return {
    name: config.OIDC_NAME ?? issuer.host,
    issuer: issuer.href,
    /** Register it at the provider. */
    redirectUri,
    roles: config.OIDC_ROLES,

    /** Returns the URL that the user opens, and the values that the response must match. @throws Unavailable */
    async start({ isConfirmation = false } = {}): Promise<{ url: string; flow: Flow }> {
      const flow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        codeVerifier: client.randomPKCECodeVerifier(),
      }
      const current = await configuration().catch(rethrow)
      const url = client.buildAuthorizationUrl(current, {
        redirect_uri: redirectUri,
        scope: config.OIDC_SCOPES,
        state: flow.state,
        nonce: flow.nonce,
        // The provider asks again, and the ID token says when.
        ...(isConfirmation ? { prompt: 'login', max_age: String(CONFIRMATION_MAX_AGE_S) } : {}),
        code_challenge: await client.calculatePKCECodeChallenge(flow.codeVerifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, flow }
    },

    /**
     * Returns the person whom the provider authenticated.
     * @param response query string of the redirect
     * @throws Unauthenticated, Unavailable
     */
    async finish(
      response: string,
      { state, nonce, codeVerifier, isConfirmation }: Flow & { isConfirmation?: boolean },
    ): Promise<Identity> {
      try {
        const current = await configuration()
        const url = new URL(redirectUri)
        url.search = response
        const tokens = await client.authorizationCodeGrant(current, url, {
          pkceCodeVerifier: codeVerifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
          ...(isConfirmation ? { maxAge: CONFIRMATION_MAX_AGE_S } : {}),
        })
        const own = tokens.claims()!
        const claims = await claimsOf(current, tokens, own)
        const groups = groupsIn(claims, config.OIDC_GROUPS_CLAIM) ?? []
        return {
          subject: `${own.iss} ${own.sub}`,
          email: text(claims.email),
          isEmailVerified: claims.email_verified === true,
          name: (text(claims.name) ?? text(claims.preferred_username) ?? '').slice(0, 100),
          groups,
          roles: rolesOf(groups, config.OIDC_ROLES, defaultTenant),
        }
      } catch (error) {
        throw errorOf(error)
      }
    },

    /** The address that also ends the session at the provider; null when it has none, or cannot be reached. */
    async signOutUrl(): Promise<string | null> {
      try {
        const current = await configuration()
        if (!current.serverMetadata().end_session_endpoint) return null
        return client.buildEndSessionUrl(current, { post_logout_redirect_uri: new URL('/sign-in', publicUrl).href }).href
      } catch {
        return null
      }
    },

    /** Reads the provider's metadata again and reports what does not work. */
    async check(): Promise<Observation[]> {
      metadata = null
      const finding = (severity: Observation['severity'], message: string, nextStep: string | null): Observation[] => [
        { check: 'SIGN_IN', severity, message, nextStep },
      ]
      try {
        const { scopes_supported: scopes } = (await configuration()).serverMetadata()
        const unknown = config.OIDC_SCOPES.split(' ').filter((scope) => scopes && !scopes.includes(scope))
        if (unknown.length > 0)
          return finding('WARNING', `${issuer.href} does not offer the scope ${unknown.join(', ')}.`, 'Correct OIDC_SCOPES.')
        if (config.OIDC_ROLES.length === 0)
          return finding(
            'WARNING',
            `${issuer.href} responds, but no group has a role, so no one can sign in with it.`,
            'Set OIDC_ROLES, for example to {"gpu-admins": "admin"}.',
          )
        return finding('OK', `${issuer.href} responds. Its redirect URI for Muster must be ${redirectUri}.`, null)
      } catch (error) {
        return finding('ERROR', errorOf(error).message, 'Check OIDC_ISSUER, and that the API can reach the provider.')
      }
    },
  }

  function rethrow(error: unknown): never {
    throw errorOf(error)
  }

  /** The library's errors as errors for users. Text of the provider is not quoted, except its error codes. */
  function errorOf(error: unknown): DomainError {
    if (error instanceof client.AuthorizationResponseError)
      return new Unauthenticated(`The sign-in at ${issuer.host} failed (${codeIn(error.error)}). Sign in again.`)
    const isChallenge = error instanceof client.WWWAuthenticateChallengeError
    if (isChallenge || error instanceof client.ResponseBodyError) {
      const code = isChallenge ? `status ${error.status}` : codeIn(error.error)
      if (isChallenge || code === 'invalid_client' || code === 'unauthorized_client')
        return new Unavailable(
          `${issuer.host} rejects the client of Muster (${code}). Check OIDC_CLIENT_ID and OIDC_CLIENT_SECRET_FILE.`,
        )
      return new Unauthenticated(`${issuer.host} rejects the sign-in (${code}). Sign in again.`)
    }
    const causes = causesOf(error)
    const refused = causes.find((cause) => cause instanceof TargetError)
    if (refused) return new Unavailable(refused.message)
    const failed = causes.find((cause) => cause instanceof RequestError)
    if (failed) return new Unavailable(`${issuer.host} ${failed.message}.`)
    const code = causes.find((cause): cause is Error & { code: string } => 'code' in cause)?.code
    return new Unauthenticated(`The response of ${issuer.host} is not valid (${codeIn(code)}). Sign in again.`)
  }
}

/** With `client_secret_basic`, unless the provider offers only `client_secret_post`; without a secret, as a public client. */
function clientAuthentication(file: string | undefined): client.ClientAuth {
  if (!file) return client.None()
  let secret: string
  try {
    secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new Error(`OIDC_CLIENT_SECRET_FILE names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const choose = methods.includes('client_secret_basic') ? basic : post
    return choose(server, ...rest)
  }
}

const causesOf = (error: unknown): Error[] => (error instanceof Error ? [error, ...causesOf(error.cause)] : [])

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const codeIn = (code: unknown) => (typeof code === 'string' && /^[\w.-]{1,64}$/.test(code) ? code : 'unknown error')

/** The groups in a claim: a list of names, or one name. The claim may be nested, as Keycloak's `realm_access.roles`. */
function groupsIn(claims: Record<string, unknown>, name: string): string[] | null {
  const nested = name
    .split('.')
    .reduce<unknown>(
      (value, key) => (value && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined),
      claims,
    )
  const value = claims[name] ?? nested
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string').slice(0, MAX_GROUPS) : null
}
