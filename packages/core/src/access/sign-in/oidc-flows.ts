import { and, eq, gt, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '../../kernel/db/client.ts'
import { verifications } from '../tables.ts'
import { hashToken } from '../tokens/make-token.ts'

const OidcFlow = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  /** The signed-in user who connects or confirms an identity; null for a sign-in. */
  userId: z.string().nullable(),
  /** The user confirms their identity: the provider must have asked them again. */
  isConfirmation: z.boolean().default(false),
})
/** A sign-in in progress at the provider. */
export type OidcFlow = z.infer<typeof OidcFlow>

/** Minutes within which a user must return from the provider. */
const FLOW_MINUTES = 10
const identifierOf = (token: string) => `oidc-flow:${hashToken(token)}`

/** Stores a flow under `token`, which only the user's browser has. Deletes flows that expired. */
export async function storeOidcFlow(db: Db, token: string, flow: OidcFlow): Promise<void> {
  await db.execute(sql`delete from verifications where id in (select id from verifications
    where identifier like 'oidc-flow:%' and expires_at < now() limit 100 for update skip locked)`)
  await db.insert(verifications).values({
    identifier: identifierOf(token),
    value: JSON.stringify(flow),
    expiresAt: sql`now() + make_interval(mins => ${FLOW_MINUTES})`,
  })
}

/** Removes the flow of `token` and returns it; null when it was used or expired. */
export async function takeOidcFlow(db: Db, token: string): Promise<OidcFlow | null> {
  const isFlow = and(eq(verifications.identifier, identifierOf(token)), gt(verifications.expiresAt, sql`now()`))
  const [row] = await db.delete(verifications).where(isFlow).returning({ value: verifications.value })
  return row ? OidcFlow.parse(JSON.parse(row.value)) : null
}
