import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, shownOnce } from '../idempotency/index.ts'
import { authorize, type Ctx, createdBy } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id, multilineText } from '../kernel/input.ts'
import { checkNode } from './allow-agent-key.ts'
import { agentEnrollmentTokenAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { type AgentEnrollmentToken, agentEnrollmentTokens } from './tables.ts'

const PREFIX = 'mse_'
/** Number of a token's characters in lists. */
const SHOWN = 12

export const CreateEnrollmentTokenInput = z.object({
  /** The node that may register with it. Null: any node of the tenant without an agent, or a new one. */
  nodeId: Id.nullish(),
  expiresInSeconds: z
    .number()
    .int('must be a whole number')
    .min(60, 'must be at least 60')
    .max(2_592_000, 'must be at most 2,592,000 (30 days)')
    .nullish()
    .transform((seconds) => seconds ?? 3600),
  note: multilineText(500).nullish(),
  idempotencyKey: IdempotencyKey,
})

/**
 * Creates a token that lets one agent register once. The token is returned only here.
 * @throws InvalidInput when the node does not exist
 */
export async function createEnrollmentToken(
  ctx: Ctx,
  input: z.input<typeof CreateEnrollmentTokenInput>,
): Promise<{ token: string; enrollmentToken: AgentEnrollmentToken }> {
  authorize(ctx, agentPermissions.trust)
  const { idempotencyKey, ...fields } = parseInput(CreateEnrollmentTokenInput, input)
  const { nodeId = null, expiresInSeconds, note } = fields
  const token = PREFIX + randomBytes(32).toString('base64url')
  const result = shownOnce<{ token: string; enrollmentToken: AgentEnrollmentToken }>(
    `The idempotency key ${idempotencyKey} already created an enrollment token, and a token is shown once. Revoke it and create another one with a new key.`,
  )
  return idempotent(ctx, { verb: 'createEnrollmentToken', key: idempotencyKey, input: fields, result }, async (tx) => {
    if (nodeId) await checkNode(tx, ctx, nodeId)
    const [enrollmentToken] = await tx
      .insert(agentEnrollmentTokens)
      .values({
        tenantId: ctx.tenantId,
        nodeId,
        prefix: token.slice(0, SHOWN),
        hash: hashEnrollmentToken(token),
        note: note ?? '',
        ...createdBy(ctx),
        expiresAt: sql`now() + make_interval(secs => ${expiresInSeconds})`,
      })
      .returning()
    const { id, prefix } = enrollmentToken!
    await audit(tx, ctx, agentEnrollmentTokenAudit.create, { id, name: prefix }, { nodeId, expiresInSeconds })
    return { token, enrollmentToken: enrollmentToken! }
  })
}

/** Plain SHA-256: a token of 256 random bits needs no slow hash. */
export const hashEnrollmentToken = (token: string): string => createHash('sha256').update(token).digest('hex')
