import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, Forbidden, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { apiTokenAudit } from './audit-actions.ts'
import { accessChanged } from './change-events.ts'
import { tokenPermissions } from './permissions.ts'
import { revokeBlockedReason } from './policy.ts'
import { type ApiToken, apiTokens } from './tables.ts'

/**
 * Revokes a token permanently.
 * @throws NotFound; Conflict when it is already revoked; Forbidden when another user created it
 */
export async function revokeApiToken(ctx: Ctx, input: z.input<typeof IdInput>): Promise<ApiToken> {
  authorize(ctx, tokenPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, { notify }) => {
    const scope = and(visibleTo(ctx, apiTokens), eq(apiTokens.id, id))
    const [before] = await tx.select().from(apiTokens).where(scope).for('no key update')
    const blockedReason = before && revokeBlockedReason(ctx.actor, before)
    if (blockedReason) throw before.revokedAt ? new Conflict(blockedReason) : new Forbidden(blockedReason)
    const [apiToken] = await tx
      .update(apiTokens)
      .set({ revokedAt: sql`now()`, ...actorColumns(ctx, 'revoked') })
      .where(and(scope, isNull(apiTokens.revokedAt)))
      .returning()
    if (!apiToken) throw await notFoundOrConflict(tx, ctx, apiTokens, id, 'API token', () => null)
    await audit(tx, ctx, apiTokenAudit.revoke, apiToken, { prefix: apiToken.prefix })
    notify(accessChanged(apiToken))
    return apiToken
  })
}
