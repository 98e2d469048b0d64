import type { TokenPolicy } from '@muster/core/access'
import type { ArtifactStore } from '@muster/core/artifacts'
import { type Attempt, type Origin, tenantCtx } from '@muster/core/context'
import { Unauthenticated } from '@muster/core/errors'
import type { Listener } from '@muster/core/events'
import type { LocalTarget } from '@muster/core/outbound'
import type { Ctx, Runtime } from '@muster/core/registry'
import type { SystemChecks } from '@muster/core/system'
import { initContextCache } from '@pothos/core'
import type { BootUrlsOf } from './http/boot/config.ts'
import { clientAddress, type RequestFacts } from './http/request-facts.ts'
import type { Mailer } from './mail/mailer.ts'
import type { Auth } from './sign-in/auth.ts'
import type { Caller } from './sign-in/caller.ts'

/**
 * Takes the place of the request in WebSocket operations. `sendNext` sends one result as JSON text and resolves when the socket has
 * room for the next.
 */
export type SocketContext = { socketHeaders: Headers; sendNext(result: string): Promise<void> | void }

/** Of operations over HTTP. */
export type HttpContext = Pick<ApiContext, 'openStream'>

/** Dependencies with process lifetime. */
export type ApiDeps = {
  runtime: Runtime
  listener: Listener
  auth: Auth
  /** Store for artifacts of runs. */
  store: ArtifactStore
  /** Signs download links to artifacts. */
  linkSecret: string
  /** URL that users open. It determines cookie attributes and the allowed request origin. */
  publicUrl: string
  /** Local addresses that targets of users may have. Default: none. */
  localTargets?: readonly LocalTarget[]
  /** Null or missing: the installation sends no email. */
  mailer?: Mailer | null
  /** Limits of API tokens. Default: 365 days. */
  tokenPolicy?: TokenPolicy
  /** The endpoints of OpenCHAMI's SMD; null or missing: not served. `publicTenant` is readable without a token. */
  openchami?: { publicTenant: string | null } | null
  /** Origins that may call /graphql with a token (CORS). */
  corsOrigins?: string[]
  /** The checks of this process. */
  systemChecks?: SystemChecks
  /** Serves GraphiQL. */
  isDevelopment?: boolean
  /** Addresses of the boot service for the machines of a tenant. Default: without one. */
  bootUrls?: BootUrlsOf
  /** JSON file that describes the lab, when one is configured. */
  labFile?: string | undefined
}

/** The context of every resolver. */
export type ApiContext = RequestFacts & {
  deps: ApiDeps
  caller: Caller | null
  /** Through what and from where the caller acts. */
  origin: Origin
  /** The mutation in progress, for the audit log. */
  attempt?: Attempt
  /** Context of the caller for verbs and reads. Every use throws Unauthenticated when no caller is signed in. */
  ctx: Ctx
  /** Tenant of the caller who signed in by this request. */
  signedInTenantId?: string | undefined
  /** Set after the first event of a subscription: its cost is within the limit and is not computed again. */
  isCostKnown?: boolean
  /** Of a subscription: the cursor of the current result, set by its resolver. */
  cursor?: string
  /** Over HTTP: called before the first result of a subscription. */
  openStream?: ((caller: Caller | null) => void) | undefined
}

export function createContext(
  deps: ApiDeps,
  facts: RequestFacts,
  caller: Caller | null,
  { openStream }: HttpContext = {},
): ApiContext {
  const { runtime } = deps
  const log = runtime.log.child({ requestId: facts.requestId })
  const { requestId } = facts
  const origin = originOf(facts, caller)
  return {
    ...initContextCache(),
    ...facts,
    deps,
    caller,
    origin,
    openStream,
    ctx: caller
      ? {
          ...tenantCtx(runtime, caller.tenantId, caller.actor),
          requestId,
          log,
          origin,
          identityConfirmedUntil: caller.identityConfirmedUntil,
        }
      : unauthenticatedCtx(),
  }
}

/** The console sends a cookie, the CLI names itself. */
export function originOf(facts: Pick<RequestFacts, 'headers'>, caller: Caller | null): Origin {
  const userAgent = facts.headers.get('user-agent')
  const isConsole = facts.headers.has('cookie') || facts.headers.has('origin')
  return {
    channel: userAgent?.startsWith('muster-cli/') ? 'cli' : isConsole ? 'console' : 'api',
    address: clientAddress(facts),
    userAgent,
    sessionId: caller?.sessionId ?? null,
  }
}

// Second line of defense: a field without auth scopes still rejects callers who are not signed in.
const unauthenticatedCtx = () =>
  new Proxy({} as Ctx, {
    get() {
      throw new Unauthenticated(SIGN_IN)
    },
  })

export const SIGN_IN = 'You are not signed in, or the session or API token is no longer valid. Sign in first.'

/** Clears the loader caches of a context, so that the next event of a subscription reads current rows. */
export function clearLoaderCaches(context: ApiContext): void {
  Object.assign(context, initContextCache())
}
