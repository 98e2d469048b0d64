import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { agentEnrollmentTokenAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { revokeEnrollmentTokenBlockedReason } from './policy.ts'
import { type AgentEnrollmentToken, agentEnrollmentTokens } from './tables.ts'

/**
 * Revokes an unused enrollment token.
 * @throws NotFound, Conflict when it is used, expired or revoked
 */
export async function revokeEnrollmentToken(ctx: Ctx, input: z.input<typeof IdInput>): Promise<AgentEnrollmentToken> {
  authorize(ctx, agentPermissions.trust)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx) => {
    const [token] = await tx
      .update(agentEnrollmentTokens)
      .set({ revokedAt: sql`now()`, ...actorColumns(ctx, 'revoked') })
      .where(
        and(
          visibleTo(ctx, agentEnrollmentTokens),
          eq(agentEnrollmentTokens.id, id),
          isNull(agentEnrollmentTokens.usedAt),
          isNull(agentEnrollmentTokens.revokedAt),
          gt(agentEnrollmentTokens.expiresAt, sql`now()`),
        ),
      )
      .returning()
    if (!token)
      throw await notFoundOrConflict(tx, ctx, agentEnrollmentTokens, id, 'enrollment token', (row) =>
        revokeEnrollmentTokenBlockedReason(ctx.actor, row),
      )
    await audit(tx, ctx, agentEnrollmentTokenAudit.revoke, { id, name: token.prefix }, { nodeId: token.nodeId })
    return token
  })
}
