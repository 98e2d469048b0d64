import type { Actor, Ctx, Runtime } from '@muster/core/context'
import { Unauthenticated } from '@muster/core/errors'
import type { Listener } from '@muster/core/events'
import { initContextCache } from '@pothos/core'
import type { Auth } from './auth.ts'

/** Who is behind a request, found from its cookie or token. */
export type Caller = {
  actor: Extract<Actor, { kind: 'user' | 'token' }>
  tenantId: string
  email: string | null
  /** Users only: their session's token. */
  sessionToken: string | null
}

/** What lives as long as the process. */
export type ApiDeps = {
  runtime: Runtime
  listener: Listener
  auth: Auth
  /** The address people type; cookies and the check of a request's origin follow from it. */
  publicUrl: string
  /** GraphiQL, and introspection for everybody. */
  isDevelopment?: boolean
  /** File in which a lab describes itself, when there is one. */
  labFile?: string | undefined
}

/** What a request brings. `responseHeaders` go out with its answer. */
export type RequestFacts = { headers: Headers; requestId: string; responseHeaders: Headers | null }

/** The context of every resolver. */
export type ApiContext = RequestFacts & {
  deps: ApiDeps
  caller: Caller | null
  /** The caller's own context for verbs and reads. @throws Unauthenticated when nobody is signed in */
  readonly ctx: Ctx
  /** Ask again whether the caller may still come in; throws Unauthenticated when not. */
  stillSignedIn(): Promise<void>
}

export function createContext(deps: ApiDeps, facts: RequestFacts, caller: Caller | null): ApiContext {
  let ctx: Ctx | null = null
  return {
    ...initContextCache(),
    ...facts,
    deps,
    caller,
    get ctx() {
      if (!caller) throw new Unauthenticated(SIGN_IN)
      ctx ??= {
        ...deps.runtime,
        actor: caller.actor,
        tenantId: caller.tenantId,
        requestId: facts.requestId,
        log: deps.runtime.log.child({ requestId: facts.requestId }),
      }
      return ctx
    },
    async stillSignedIn() {
      const now = await deps.auth.findCaller(facts.headers)
      if (now?.actor.id !== caller?.actor.id) throw new Unauthenticated('The session is over; sign in again.')
    },
  }
}

export const SIGN_IN = 'Nobody is signed in, or the session or token is over; sign in first.'

/** Forget what loaders of this context have read: the next event of a subscription must see the rows as they are then. */
export function forgetLoaded(context: ApiContext): void {
  Object.assign(context, initContextCache())
}
