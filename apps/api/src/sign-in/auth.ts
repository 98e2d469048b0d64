import { hkdfSync } from 'node:crypto'
import { Id } from '@muster/core/input'
import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import { createLdapCheck } from './check-ldap.ts'
import { createIdentityConfirmation } from './confirm-identity.ts'
import { createDeviceSignIn } from './device-sign-in.ts'
import { createEmailChanges } from './email-changes.ts'
import { createExternalSignIn } from './external.ts'
import { createInvitationAcceptance } from './invitations.ts'
import { createLinkSignIn } from './links.ts'
import { type AuthOptions, createSignInParts } from './parts.ts'
import { createPasskeys } from './passkeys.ts'
import { createPasswordSignIn } from './passwords.ts'
import { createSecondFactor } from './second-factor.ts'
import { createSessionChanges } from './sessions.ts'

const { members, users } = schema

export type Auth = ReturnType<typeof createAuth>

/** Derives the cookie signing key from the master password when AUTH_SECRET is not set. */
export const deriveAuthSecret = (masterPassword: string): string =>
  Buffer.from(hkdfSync('sha256', masterPassword, 'muster', 'auth secret 1', 32)).toString('base64url')

/** Sign-in, sessions and tokens. better-auth stores passwords and sessions; its HTTP routes are not exposed. */
export function createAuth(options: AuthOptions) {
  const parts = createSignInParts(options)
  const { db, internals, callers, providers } = parts
  const checkLdap = createLdapCheck(parts)
  const { isOwnPasskey, ...passkeys } = createPasskeys(parts)
  const { isOwnIdentity, confirmed, sessionOf, ...confirmation } = createIdentityConfirmation({
    ...parts,
    isOwnPasskey,
    checkLdap,
  })
  const { signOutUrl, ...external } = createExternalSignIn({ ...parts, checkLdap, isOwnIdentity, confirmed, sessionOf })
  return {
    ...createPasswordSignIn(parts),
    ...createLinkSignIn(parts),
    ...createSecondFactor(parts),
    ...passkeys,
    ...external,
    ...createDeviceSignIn(parts),
    ...createInvitationAcceptance(parts),
    ...confirmation,
    ...createEmailChanges(parts),
    ...createSessionChanges({ ...parts, signOutUrl }),
    providers,
    findCaller: callers.find,
    /** Calls back when the caller of a stream loses its access, see `createCallers`. */
    watchCaller: callers.watch,
    isLiveSession: callers.isLiveSession,
    jwtOf: callers.jwtOf,
    discardSession: parts.discardSession,
    /** Clears the caller cache, so that a revoked session or token is rejected immediately. */
    clearCallerCache: callers.clearCache,
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
  }
}
