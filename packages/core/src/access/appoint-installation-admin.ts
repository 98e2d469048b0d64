import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { memberAudit } from './audit-actions.ts'
import { installationAdminPermissions } from './permissions.ts'
import { users } from './tables.ts'

export const AppointInstallationAdminInput = z.object({ userId: Id })

/**
 * Makes a user an installation administrator.
 * @throws NotFound
 */
export async function appointInstallationAdmin(
  ctx: Ctx,
  input: z.input<typeof AppointInstallationAdminInput>,
): Promise<typeof users.$inferSelect> {
  authorize(ctx, installationAdminPermissions.write)
  const { userId } = parseInput(AppointInstallationAdminInput, input)
  // The user may not be a member of the caller's tenant.
  return inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    const [user] = await tx.update(users).set({ isInstallationAdmin: true }).where(eq(users.id, userId)).returning()
    if (!user) throw new NotFound(`There is no user ${userId}.`)
    await audit(tx, ctx, memberAudit.appointInstallationAdmin, user)
    return user
  })
}
