import { and, asc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Actor } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { apiTokens, members, type Role, tenants } from './tables.ts'
import { hashToken, looksLikeToken } from './tokens.ts'

/** The actor of a token; null when the token is unknown, revoked or expired. Records its use, at most once a minute. */
export async function findActorByToken(db: Db, token: string): Promise<{ actor: Actor; tenantId: string } | null> {
  if (!looksLikeToken(token)) return null
  const [row] = await db
    .select()
    .from(apiTokens)
    .where(
      and(
        eq(apiTokens.hash, hashToken(token)),
        isNull(apiTokens.revokedAt),
        or(isNull(apiTokens.expiresAt), gt(apiTokens.expiresAt, sql`now()`)),
      ),
    )
  if (!row) return null
  await noteUse(db, row.id, row.lastUsedAt)
  return { actor: { kind: 'token', id: row.id, name: row.name, role: row.role, userId: row.createdById }, tenantId: row.tenantId }
}

async function noteUse(db: Db, id: string, lastUsedAt: Date | null): Promise<void> {
  if (lastUsedAt && lastUsedAt.getTime() > Date.now() - 60_000) return
  // Of concurrent requests one writes, and none waits for it.
  await db
    .update(apiTokens)
    .set({ lastUsedAt: sql`now()` })
    .where(
      sql`${apiTokens.id} = (select id from api_tokens where id = ${id}
        and (last_used_at is null or last_used_at < now() - interval '1 minute') for update skip locked)`,
    )
}

/** A user's tenant and role; the tenant joined first when there are several. Null when there is none. */
export async function findMembership(
  db: Db,
  userId: string,
): Promise<{ tenantId: string; role: Role; tenantName: string } | null> {
  const [row] = await db
    .select({ tenantId: members.tenantId, role: members.role, tenantName: tenants.name })
    .from(members)
    .innerJoin(tenants, eq(tenants.id, members.tenantId))
    .where(eq(members.userId, userId))
    .orderBy(asc(members.createdAt), asc(members.tenantId))
    .limit(1)
  return row ?? null
}
