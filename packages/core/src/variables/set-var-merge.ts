import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { type Tenant, tenants, VAR_MERGES } from '../access/tables.ts'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { varMergeAudit } from './audit-actions.ts'
import { variablePermissions } from './permissions.ts'

export const SetVarMergeInput = z.object({ merge: z.enum(VAR_MERGES) })

/** Sets for the tenant whether dictionaries in nearer layers replace lower ones or merge with them. */
export async function setVarMerge(ctx: Ctx, input: z.input<typeof SetVarMergeInput>): Promise<Tenant> {
  authorize(ctx, variablePermissions.setMerge)
  const { merge } = parseInput(SetVarMergeInput, input)
  return inTransaction(ctx, async (tx) => {
    const [tenant] = await tx.update(tenants).set({ varMerge: merge }).where(eq(tenants.id, ctx.tenantId)).returning()
    await audit(tx, ctx, varMergeAudit.setVarMerge, tenant!, { merge })
    return tenant!
  })
}
