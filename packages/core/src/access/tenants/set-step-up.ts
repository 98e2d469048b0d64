import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import { tenantAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { tenantPermissions } from '../permissions.ts'
import { type Tenant, tenants } from '../tables.ts'

export const SetStepUpInput = z.object({ minutes: z.int('must be a whole number').min(1).max(1440).nullable() })

/**
 * Sets for how many minutes a proof of identity suffices for the permissions with `needsConfirmedIdentity`, and for changes of how
 * a user signs in. Null: until the session ends.
 */
export async function setStepUp(ctx: Ctx, input: z.input<typeof SetStepUpInput>): Promise<Tenant> {
  authorize(ctx, tenantPermissions.setStepUp)
  const { minutes } = parseInput(SetStepUpInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [tenant] = await tx.update(tenants).set({ stepUpMinutes: minutes }).where(eq(tenants.id, ctx.tenantId)).returning()
    await audit(tx, ctx, tenantAudit.setStepUp, tenant!, { minutes })
    ctx.notify(accessChanged({ id: ctx.tenantId, tenantId: ctx.tenantId }))
    return tenant!
  })
}
