import { and, eq, inArray, isNotNull, ne } from 'drizzle-orm'
import type { Db } from '../../kernel/db/client.ts'
import { accounts, IDENTITY_PROVIDERS, type IdentityProvider, members, passkeys, users } from '../tables.ts'

/** An identity of a user at a provider. */
export type Identity = { provider: IdentityProvider; name: string }

/** The ways in which a user can sign in. */
export type SignInMethods = {
  hasPassword: boolean
  /** Identities at all providers, including those that are no longer configured. */
  identities: Identity[]
  passkeyCount: number
  hasSecondFactor: boolean
  /** Providers with groups that give the user a role in a tenant. */
  roleProviders: IdentityProvider[]
}

const isProvider = (id: string): id is IdentityProvider => (IDENTITY_PROVIDERS as readonly string[]).includes(id)

/** Issuer of an OpenID Connect identity, from its account ID `ISSUER SUBJECT`; otherwise the account ID, the entry of a directory. */
const nameOf = (provider: IdentityProvider, accountId: string) => (provider === 'oidc' ? accountId.split(' ', 1)[0]! : accountId)

/** The sign-in methods of users, by user ID. */
export async function findSignInMethods(db: Db, userIds: readonly string[]): Promise<Map<string, SignInMethods>> {
  const ids = [...userIds]
  // Sequential, because the statements of a transaction share one connection.
  const people = await db
    .select({ id: users.id, hasSecondFactor: users.twoFactorEnabled })
    .from(users)
    .where(inArray(users.id, ids))
  const ways = await db
    .select({
      userId: accounts.userId,
      provider: accounts.providerId,
      accountId: accounts.accountId,
      password: accounts.password,
    })
    .from(accounts)
    .where(inArray(accounts.userId, ids))
    .orderBy(accounts.createdAt, accounts.id)
  const keys = await db.select({ userId: passkeys.userId }).from(passkeys).where(inArray(passkeys.userId, ids))
  const roles = await db
    .selectDistinct({ userId: members.userId, provider: members.provider })
    .from(members)
    .where(inArray(members.userId, ids))
  return new Map(
    people.map(({ id, hasSecondFactor }) => {
      const own = ways.filter(({ userId }) => userId === id)
      const identities = own.flatMap(({ provider, accountId }) =>
        isProvider(provider) ? [{ provider, name: nameOf(provider, accountId) }] : [],
      )
      const hasPassword = own.some(({ provider, password }) => provider === 'credential' && password !== null)
      const passkeyCount = keys.filter(({ userId }) => userId === id).length
      const roleProviders = roles.flatMap(({ userId, provider }) => (userId === id && provider ? [provider] : []))
      return [id, { hasPassword, identities, passkeyCount, hasSecondFactor, roleProviders }]
    }),
  )
}

/** What a user can remove: the password, the identities at a provider, or a passkey. */
export type Removable = 'credential' | IdentityProvider | 'passkey'

/**
 * Why a user may not remove a way to sign in; null when another one remains.
 * @param methods before the removal
 * @param providers those that the installation has
 */
export function removalBlockedReason(
  { hasPassword, identities, passkeyCount, roleProviders }: SignInMethods,
  removed: Removable,
  providers: readonly IdentityProvider[],
): string | null {
  if ((roleProviders as string[]).includes(removed))
    return 'Your groups at this provider give you your role, so its identity stays connected.'
  const remaining =
    (hasPassword && removed !== 'credential') ||
    passkeyCount > (removed === 'passkey' ? 1 : 0) ||
    identities.some(({ provider }) => provider !== removed && providers.includes(provider))
  return remaining ? null : 'This is your last way to sign in. Add another one first.'
}

/** Whether the user has a way to sign in: a password, a passkey, or an identity at a provider. Then no link is printed at the start. */
export async function hasSignInMethod(db: Db, userId: string): Promise<boolean> {
  const isIdentity = and(eq(accounts.userId, userId), ne(accounts.providerId, 'credential'))
  return (await hasLocalSignIn(db, userId)) || (await db.$count(accounts, isIdentity)) > 0
}

/** Whether the user can sign in without a provider: with a password or a passkey. A one-time link then no longer works. */
export async function hasLocalSignIn(db: Db, userId: string): Promise<boolean> {
  const isPassword = and(eq(accounts.userId, userId), eq(accounts.providerId, 'credential'), isNotNull(accounts.password))
  return (await db.$count(accounts, isPassword)) > 0 || (await db.$count(passkeys, eq(passkeys.userId, userId))) > 0
}
