import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { audit } from '../../audit/index.ts'
import { actorColumns, type Ctx, type Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { apiTokenAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { type ApiToken, apiTokens } from '../tables.ts'

/**
 * Revokes the valid tokens of the caller's tenant that match `condition`, and all tokens created with them. `createApiToken` locks
 * the row of the parent token, so that a token created concurrently is revoked too.
 */
export async function revokeTokens(tx: Tx, ctx: Ctx, condition: SQL): Promise<ApiToken[]> {
  const revoked: ApiToken[] = []
  let next: SQL | null = condition
  while (next) {
    const tokens: ApiToken[] = await tx
      .update(apiTokens)
      .set({ revokedAt: sql`now()`, ...actorColumns(ctx, 'revoked') })
      .where(and(visibleTo(ctx, apiTokens), isNull(apiTokens.revokedAt), next))
      .returning()
    revoked.push(...tokens)
    const ids = tokens.map(({ id }) => id)
    next = ids.length > 0 ? sql`${apiTokens.parentId} = any(${sql.param(ids)}::uuid[])` : null
  }
  await audit(
    tx,
    ctx,
    apiTokenAudit.revoke,
    revoked.map(({ id, name, prefix }) => ({ id, name, details: { prefix } })),
  )
  for (const { id, tenantId } of revoked) ctx.notify(accessChanged({ id, tenantId }))
  return revoked
}

/** Revokes the tokens of a user in the caller's tenant, and all tokens created with them. */
export const revokeTokensOf = (tx: Tx, ctx: Ctx, userId: string): Promise<ApiToken[]> =>
  revokeTokens(tx, ctx, eq(apiTokens.ownerId, userId))
