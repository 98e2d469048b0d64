import type { Actor } from '@muster/core/context'
import type { Ctx } from '@muster/core/registry'

/** The user or token that a request's cookie or bearer token identifies. */
export type Caller = {
  actor: Extract<Actor, { kind: 'user' | 'token' }>
  tenantId: string
  email: string | null
  /** Users only: their session's token. */
  sessionToken: string | null
}

/** A request's caller, null when nobody is signed in, and the caller's context for verbs. */
export type CallerContext = { caller: Caller | null; ctx: Ctx }
