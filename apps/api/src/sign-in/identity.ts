import type { IdentityProvider } from '@muster/core/access'
import type { Db } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'

const { accounts, users } = schema

/** A person whom an identity provider has authenticated. */
export type Identity = {
  /** Unique and stable at all providers of the protocol. */
  subject: string
  /** Null: the provider sends none. */
  email: string | null
  isEmailVerified: boolean
  name: string
  groups: string[]
  /** Names of the roles of the groups, by tenant name. */
  roles: Map<string, string[]>
}

/** The user with this connected identity; undefined when there is none. */
export async function findUserOfIdentity(
  db: Db,
  provider: IdentityProvider,
  subject: string,
): Promise<{ id: string; email: string } | undefined> {
  const [user] = await db
    .select({ id: users.id, email: users.email })
    .from(accounts)
    .innerJoin(users, eq(users.id, accounts.userId))
    .where(and(eq(accounts.providerId, provider), eq(accounts.accountId, subject)))
  return user
}
