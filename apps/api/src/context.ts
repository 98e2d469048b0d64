import type { TargetPolicy } from '@muster/core/alerts'
import type { ArtifactStore } from '@muster/core/artifacts'
import { Unauthenticated } from '@muster/core/errors'
import type { Listener } from '@muster/core/events'
import type { Ctx, Runtime } from '@muster/core/registry'
import { initContextCache } from '@pothos/core'
import type { RequestFacts } from './http/request-facts.ts'
import type { Auth } from './sign-in/auth.ts'
import type { Caller } from './sign-in/caller.ts'

/**
 * What a WebSocket operation brings instead of a request. `sendNext` sends one of its results, given as JSON, at once; it resolves
 * when more may come.
 */
export type SocketContext = { socketHeaders: Headers; sendNext(result: string): Promise<void> | void }

/** What lives as long as the process. */
export type ApiDeps = {
  runtime: Runtime
  listener: Listener
  auth: Auth
  /** Where files of runs are. */
  store: ArtifactStore
  /** Signs links to them. */
  linkSecret: string
  /** The address people type; cookies and the check of a request's origin follow from it. */
  publicUrl: string
  /** Which targets alert routes may have; absent: none on the local machine or link. */
  alertTargets?: TargetPolicy
  /** As of `clientAddress`. */
  trustProxy?: boolean
  /** Origins of other sites whose pages may call /graphql with a token. */
  corsOrigins?: string[]
  /** GraphiQL, and introspection for everybody. */
  isDevelopment?: boolean
  /** File in which a lab describes itself, when there is one. */
  labFile?: string | undefined
}

/** The context of every resolver. */
export type ApiContext = RequestFacts & {
  deps: ApiDeps
  caller: Caller | null
  /** The caller's own context for verbs and reads. When nobody is signed in, any use of it throws Unauthenticated. */
  ctx: Ctx
  /** Of a subscription: its cost was counted, at the first event, and is within the limit. */
  isCostKnown?: boolean
  /** Of a subscription: the cursor of the current result, set by its resolver. */
  cursor?: string
  /** Ask again whether the caller may still come in; throws Unauthenticated when not. */
  stillSignedIn(): Promise<void>
}

export function createContext(deps: ApiDeps, facts: RequestFacts, caller: Caller | null): ApiContext {
  const { runtime } = deps
  const log = runtime.log.child({ requestId: facts.requestId })
  const { requestId } = facts
  return {
    ...initContextCache(),
    ...facts,
    deps,
    caller,
    ctx: caller ? { ...runtime, actor: caller.actor, tenantId: caller.tenantId, requestId, log } : nobody(),
    async stillSignedIn() {
      const now = await deps.auth.findCaller(facts.headers)
      if (now?.actor.id !== caller?.actor.id) throw new Unauthenticated('The session is over; sign in again.')
    },
  }
}

// Scopes keep callers who are not signed in away from whatever uses this; should one be forgotten, it is refused all the same.
const nobody = () =>
  new Proxy({} as Ctx, {
    get() {
      throw new Unauthenticated(SIGN_IN)
    },
  })

export const SIGN_IN = 'Nobody is signed in, or the session or token is over; sign in first.'

/** Forget what loaders of this context have read: the next event of a subscription must see the rows as they are then. */
export function forgetLoaded(context: ApiContext): void {
  Object.assign(context, initContextCache())
}
