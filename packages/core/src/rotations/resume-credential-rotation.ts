import type { z } from 'zod'
import type { Ctx } from '../kernel/context.ts'
import type { IdInput } from '../kernel/input.ts'
import { rotationAudit } from './audit-actions.ts'
import { decide } from './decide.ts'
import { resumeBlockedReason } from './policy.ts'
import type { CredentialRotation } from './tables.ts'

/**
 * Resumes a paused rotation: tries its failed nodes again.
 * @throws NotFound, Conflict it is not paused
 */
export const resumeCredentialRotation = (ctx: Ctx, input: z.input<typeof IdInput>): Promise<CredentialRotation> =>
  decide(ctx, input, { action: rotationAudit.resume, reason: resumeBlockedReason, changes: {}, retryFailedHosts: true })
