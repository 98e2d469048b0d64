import { sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { Ctx } from '../kernel/context.ts'
import type { IdInput } from '../kernel/input.ts'
import { rotationAudit } from './audit-actions.ts'
import { decide } from './decide.ts'
import { cancelBlockedReason } from './policy.ts'
import type { CredentialRotation } from './tables.ts'

/**
 * Cancels a rotation before the switch: the previous secret is restored on all nodes.
 * @throws NotFound, Conflict the credential already has its new secret, or the rotation ended
 */
export const cancelCredentialRotation = (ctx: Ctx, input: z.input<typeof IdInput>): Promise<CredentialRotation> =>
  decide(ctx, input, {
    action: rotationAudit.cancel,
    reason: cancelBlockedReason,
    changes: { cancelRequestedAt: sql`now()`, completeRequestedAt: null },
    retryFailedHosts: true,
  })
