import { and, eq, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { Conflict, Forbidden, parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { whyNotRevoke } from './policy.ts'
import { type ApiToken, apiTokens } from './tables.ts'

/**
 * End a token at once, for good.
 * @throws NotFound; Conflict it is revoked already; Forbidden it is somebody else's
 */
export async function revokeApiToken(ctx: Ctx, input: z.input<typeof ById>): Promise<ApiToken> {
  authorize(ctx, 'token:write')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx) => {
    const mine = and(visibleTo(ctx, apiTokens), eq(apiTokens.id, id))
    const [before] = await tx.select().from(apiTokens).where(mine).for('no key update')
    const refused = before && whyNotRevoke(ctx.actor, before)
    if (refused) throw before.revokedAt ? new Conflict(refused) : new Forbidden(refused)
    const [apiToken] = await tx
      .update(apiTokens)
      .set({ revokedAt: sql`now()` })
      .where(and(mine, isNull(apiTokens.revokedAt)))
      .returning()
    if (!apiToken) throw await whyNoRow(tx, ctx, apiTokens, id, 'API token', () => null)
    await audit(tx, ctx, 'api_token.revoke', apiToken, { prefix: apiToken.prefix })
    return apiToken
  })
}
