import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { parseInput } from '../errors.ts'
import { Id, prose } from '../input.ts'
import { checkNode } from './allow-agent-key.ts'
import { type AgentEnrolmentToken, agentEnrolmentTokens } from './tables.ts'

const PREFIX = 'mse_'
/** Characters of a token that lists show. */
const SHOWN = 12

export const CreateEnrolmentTokenInput = z.object({
  /** The node that may register with it. Null: any node of the tenant without an agent, or one that is not known yet. */
  nodeId: Id.nullish(),
  expiresInMinutes: z
    .number()
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(43_200, 'must be at most 43,200, 30 days')
    .nullish()
    .transform((minutes) => minutes ?? 60),
  note: prose(500).nullish(),
})

/**
 * Make a token with which one agent may register, once. It is given out here and never again.
 * @throws InvalidInput there is no such node
 */
export async function createEnrolmentToken(
  ctx: Ctx,
  input: z.input<typeof CreateEnrolmentTokenInput>,
): Promise<{ token: string; enrolmentToken: AgentEnrolmentToken }> {
  authorize(ctx, 'agent:trust')
  const { nodeId = null, expiresInMinutes, note } = parseInput(CreateEnrolmentTokenInput, input)
  const token = PREFIX + randomBytes(32).toString('base64url')
  return inTransaction(ctx, async (tx) => {
    if (nodeId) await checkNode(tx, ctx, nodeId)
    const [enrolmentToken] = await tx
      .insert(agentEnrolmentTokens)
      .values({
        tenantId: ctx.tenantId,
        nodeId,
        prefix: token.slice(0, SHOWN),
        hash: hashEnrolmentToken(token),
        note: note ?? '',
        createdByName: ctx.actor.name,
        expiresAt: sql`now() + make_interval(mins => ${expiresInMinutes})`,
      })
      .returning()
    const { id, prefix } = enrolmentToken!
    await audit(tx, ctx, 'agent_enrolment_token.create', { id, name: prefix }, { nodeId, expiresInMinutes })
    return { token, enrolmentToken: enrolmentToken! }
  })
}

/** A plain SHA-256 serves: what has 256 random bits needs no slow hash. */
export const hashEnrolmentToken = (token: string): string => createHash('sha256').update(token).digest('hex')
