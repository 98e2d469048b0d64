import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { whyNotRevokeEnrolmentToken } from './policy.ts'
import { type AgentEnrolmentToken, agentEnrolmentTokens } from './tables.ts'

/**
 * Let nobody register with a token any more that nobody has used yet.
 * @throws NotFound, Conflict it is used, expired or revoked
 */
export async function revokeEnrolmentToken(ctx: Ctx, input: z.input<typeof ById>): Promise<AgentEnrolmentToken> {
  authorize(ctx, 'agent:trust')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx) => {
    const [token] = await tx
      .update(agentEnrolmentTokens)
      .set({ revokedAt: sql`now()`, revokedByName: ctx.actor.name })
      .where(
        and(
          visibleTo(ctx, agentEnrolmentTokens),
          eq(agentEnrolmentTokens.id, id),
          isNull(agentEnrolmentTokens.usedAt),
          isNull(agentEnrolmentTokens.revokedAt),
          gt(agentEnrolmentTokens.expiresAt, sql`now()`),
        ),
      )
      .returning()
    if (!token)
      throw await whyNoRow(tx, ctx, agentEnrolmentTokens, id, 'enrolment token', (row) =>
        whyNotRevokeEnrolmentToken(ctx.actor, row),
      )
    await audit(tx, ctx, 'agent_enrolment_token.revoke', { id, name: token.prefix }, { nodeId: token.nodeId })
    return token
  })
}
