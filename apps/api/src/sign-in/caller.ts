import type { IdentityProvider } from '@muster/core/access'
import type { Actor } from '@muster/core/context'
import { clientNetwork } from '@muster/core/networks'
import type { Ctx } from '@muster/core/registry'

/** The user or token that a request's cookie or bearer token identifies. */
export type Caller = {
  actor: Extract<Actor, { kind: 'user' | 'token' }>
  tenantId: string
  email: string | null
  /** Session token; null for API tokens. */
  sessionToken: string | null
  /** When the proof of identity becomes too old for sensitive changes; null when the tenant or the caller is not asked. */
  identityConfirmedUntil: Date | null
  /** Row of the session; null for API tokens. */
  sessionId: string | null
  /** Identity provider at which the session began; null for others. */
  provider: IdentityProvider | null
  /** Last proof of identity in the session; null for API tokens. */
  authenticatedAt: Date | null
}

/** Caller of a request (null when not signed in) and the context for verbs. */
export type CallerContext = { caller: Caller | null; ctx: Ctx }

/** The result of a sign-in. */
export type SignedIn = { viewer: Caller; sessionToken: string }

/** By what limits per caller count: the user or token, or the network of a client that is not signed in. */
export const callerKey = (caller: Caller | null, address: string): string =>
  caller ? `${caller.actor.kind} ${caller.actor.id}` : `address ${clientNetwork(address)}`
