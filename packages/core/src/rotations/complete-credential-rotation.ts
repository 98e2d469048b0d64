import { sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { Ctx } from '../kernel/context.ts'
import type { IdInput } from '../kernel/input.ts'
import { rotationAudit } from './audit-actions.ts'
import { decide } from './decide.ts'
import { completeBlockedReason } from './policy.ts'
import type { CredentialRotation } from './tables.ts'

/**
 * Finishes a paused rotation without its failed nodes: they move to a new credential with the previous secret.
 * @throws NotFound, Conflict it is not paused
 */
export const completeCredentialRotation = (ctx: Ctx, input: z.input<typeof IdInput>): Promise<CredentialRotation> =>
  decide(ctx, input, {
    action: rotationAudit.complete,
    reason: completeBlockedReason,
    changes: { completeRequestedAt: sql`now()`, cancelRequestedAt: null },
    retryFailedHosts: false,
  })
