import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { openchamiTargetAudit } from './audit-actions.ts'
import { openchamiTargetChanged } from './change-events.ts'
import { openchamiPermissions } from './permissions.ts'
import { NO_TARGET } from './remove-openchami-target.ts'
import { CHECK_MODES, type OpenchamiTarget, openchamiTargets } from './tables.ts'

export const CheckOpenchamiTargetInput = z.object({ mode: z.enum(CHECK_MODES, 'must be REPORT or PUSH') })

/**
 * Requests a check now, also of a target that is OFF: a worker compares, in the mode PUSH also writes, and records the result. A push
 * that is requested already stays one.
 * @throws NotFound
 */
export async function checkOpenchamiTarget(ctx: Ctx, input: z.input<typeof CheckOpenchamiTargetInput>): Promise<OpenchamiTarget> {
  authorize(ctx, openchamiPermissions.write)
  const { mode } = parseInput(CheckOpenchamiTargetInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [target] = await tx
      .update(openchamiTargets)
      .set({
        requestedAt: sql`clock_timestamp()`,
        requestedMode: sql`case when ${openchamiTargets.requestedMode} = 'PUSH' then 'PUSH' else ${mode} end`,
        updatedAt: sql`${openchamiTargets.updatedAt}`,
      })
      .where(visibleTo(ctx, openchamiTargets))
      .returning()
    if (!target) throw new NotFound(NO_TARGET)
    await audit(tx, ctx, openchamiTargetAudit.check, target, { mode })
    ctx.notify(openchamiTargetChanged({ id: target.id, tenantId: ctx.tenantId }))
    return target
  })
}
