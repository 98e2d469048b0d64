import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, Forbidden, NotFound, parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { tokenPermissions } from '../permissions.ts'
import { revokeBlockedReason } from '../policy.ts'
import { type ApiToken, apiTokens } from '../tables.ts'
import { revokeTokens } from './revoke-tokens.ts'

/**
 * Revokes a token, and the tokens created with it, permanently.
 * @throws NotFound; Conflict when it is already revoked; Forbidden when another user owns it
 */
export async function revokeApiToken(ctx: Ctx, input: z.input<typeof IdInput>): Promise<ApiToken> {
  authorize(ctx, tokenPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = and(visibleTo(ctx, apiTokens), eq(apiTokens.id, id))
    const [before] = await tx.select().from(apiTokens).where(scope).for('no key update')
    if (!before) throw new NotFound(`There is no API token ${id}.`)
    const blockedReason = revokeBlockedReason(ctx.actor, before)
    if (blockedReason) throw before.revokedAt ? new Conflict(blockedReason) : new Forbidden(blockedReason)
    const [apiToken] = await revokeTokens(tx, ctx, eq(apiTokens.id, id))
    return apiToken!
  })
}
