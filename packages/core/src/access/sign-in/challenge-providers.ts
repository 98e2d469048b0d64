import { and, eq, gt, sql } from 'drizzle-orm'
import type { Db } from '../../kernel/db/client.ts'
import { IDENTITY_PROVIDERS, type IdentityProvider, verifications } from '../tables.ts'
import { hashToken } from '../tokens/make-token.ts'

/** At least the lifetime of a challenge. */
const MINUTES = 15
const identifierOf = (challenge: string) => `challenge-provider:${hashToken(challenge)}`

/** Records the provider of a sign-in that still needs its second factor. */
export async function storeChallengeProvider(db: Db, challenge: string, provider: IdentityProvider): Promise<void> {
  await db.insert(verifications).values({
    identifier: identifierOf(challenge),
    value: provider,
    expiresAt: sql`now() + make_interval(mins => ${MINUTES})`,
  })
}

/** The provider at which the sign-in of the challenge began; null when it began elsewhere. */
export async function findChallengeProvider(db: Db, challenge: string): Promise<IdentityProvider | null> {
  const isOne = and(eq(verifications.identifier, identifierOf(challenge)), gt(verifications.expiresAt, sql`now()`))
  const [row] = await db.select({ value: verifications.value }).from(verifications).where(isOne)
  return IDENTITY_PROVIDERS.find((provider) => provider === row?.value) ?? null
}
