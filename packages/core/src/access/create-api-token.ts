import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, shownOnce } from '../idempotency/index.ts'
import { authorize, type Ctx, createdBy } from '../kernel/context.ts'
import { Forbidden, parseInput } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { apiTokenAudit } from './audit-actions.ts'
import { tokenPermissions } from './permissions.ts'
import { grantBlockedReason } from './policy.ts'
import { type ApiToken, apiTokens, ROLES } from './tables.ts'
import { makeToken } from './tokens.ts'

export const CreateApiTokenInput = z.object({
  name: singleLineText(100),
  role: z.enum(ROLES),
  /** Null: it does not expire. */
  expiresInSeconds: z
    .number()
    .int('must be a whole number')
    .min(60, 'must be at least 60')
    .max(10 * 365 * 86_400, 'must be at most 315360000')
    .nullish(),
  idempotencyKey: IdempotencyKey,
})

/**
 * Creates a token for a program. Its secret is returned only here.
 * @throws Forbidden when the role is above the caller's
 */
export async function createApiToken(
  ctx: Ctx,
  input: z.input<typeof CreateApiTokenInput>,
): Promise<{ token: string; apiToken: ApiToken }> {
  authorize(ctx, tokenPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(CreateApiTokenInput, input)
  const { name, role, expiresInSeconds } = fields
  const blockedReason = grantBlockedReason(ctx.actor, role)
  if (blockedReason) throw new Forbidden(`${tokenPermissions.write.name}: ${blockedReason}`)
  const { token, prefix, hash } = makeToken()
  const result = shownOnce<{ token: string; apiToken: ApiToken }>(
    `The idempotency key ${idempotencyKey} already created the API token ${name}, and a token is shown once. Revoke it and create another one with a new key.`,
  )
  return idempotent(ctx, { verb: 'createApiToken', key: idempotencyKey, input: fields, result }, async (tx) => {
    const [apiToken] = await tx
      .insert(apiTokens)
      .values({
        tenantId: ctx.tenantId,
        name,
        role,
        prefix,
        hash,
        ...createdBy(ctx),
        expiresAt: expiresInSeconds ? sql`now() + make_interval(secs => ${expiresInSeconds})` : null,
      })
      .returning()
    await audit(tx, ctx, apiTokenAudit.create, apiToken!, { role, prefix })
    return { token, apiToken: apiToken! }
  })
}
