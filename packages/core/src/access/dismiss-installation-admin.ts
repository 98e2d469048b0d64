import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { accessOfUserChanged } from './appoint-installation-admin.ts'
import { memberAudit } from './audit-actions.ts'
import { installationAdminRemains } from './installation-admin-remains.ts'
import { installationAdminPermissions } from './permissions.ts'
import { members, type User, users } from './tables.ts'

export const DismissInstallationAdminInput = z.object({ userId: Id })

/**
 * Ends the installation permissions of a user, and of the API tokens that the user created with them.
 * @throws NotFound; Conflict the user is not an installation administrator, or no other one has access to a tenant
 */
export async function dismissInstallationAdmin(ctx: Ctx, input: z.input<typeof DismissInstallationAdminInput>): Promise<User> {
  authorize(ctx, installationAdminPermissions.write)
  const { userId } = parseInput(DismissInstallationAdminInput, input)
  return inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    const isAdmin = eq(users.isInstallationAdmin, true)
    // Locks all administrators, so that two concurrent calls cannot dismiss the last two.
    const admins = await tx.select().from(users).where(isAdmin).orderBy(users.id).for('no key update')
    const admin = admins.find(({ id }) => id === userId)
    if (!admin) {
      const [user] = await tx.select().from(users).where(eq(users.id, userId))
      if (!user) throw new NotFound(`There is no user ${userId}.`)
      throw new Conflict(`${user.name} is not an installation administrator.`)
    }
    if (admins.length === 1 || !(await installationAdminRemains(tx, eq(members.userId, userId))))
      throw new Conflict(
        `${admin.name} is the only installation administrator with access to a tenant. Appoint another user first.`,
      )
    const [user] = await tx.update(users).set({ isInstallationAdmin: false }).where(eq(users.id, userId)).returning()
    await audit(tx, { ...ctx, tenantId: null }, memberAudit.dismissInstallationAdmin, user!)
    await accessOfUserChanged(tx, ctx, userId)
    return user!
  })
}
