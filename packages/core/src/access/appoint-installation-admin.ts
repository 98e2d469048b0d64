import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction, type SystemCtx, type Tx } from '../kernel/context.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { memberAudit } from './audit-actions.ts'
import { accessChanged } from './change-events.ts'
import { installationAdminPermissions } from './permissions.ts'
import { members, type User, users } from './tables.ts'

export const AppointInstallationAdminInput = z.object({ email: z.string().trim().toLowerCase().min(1).max(320) })

/**
 * Makes a user an installation administrator. The user may belong to any tenant. Also called by `muster-admin` on the server.
 * @throws NotFound; Conflict the user is already an installation administrator, or is a service account
 */
export async function appointInstallationAdmin(
  caller: Ctx | SystemCtx,
  input: z.input<typeof AppointInstallationAdminInput>,
): Promise<User> {
  authorize(caller, installationAdminPermissions.write)
  const { email } = parseInput(AppointInstallationAdminInput, input)
  const db = 'systemDb' in caller ? caller.systemDb : caller.db
  return inTransaction({ ...caller, db }, async (tx, ctx) => {
    const [before] = await tx.select().from(users).where(eq(users.email, email)).for('no key update')
    if (!before) throw new NotFound(`There is no user with the email address ${email}. Invite the person to a tenant first.`)
    if (before.isServiceAccount)
      throw new Conflict(`${before.name} is a service account. An installation administrator must be a person, who can sign in.`)
    if (before.isInstallationAdmin) throw new Conflict(`${before.name} is already an installation administrator.`)
    const [user] = await tx.update(users).set({ isInstallationAdmin: true }).where(eq(users.id, before.id)).returning()
    await audit(tx, { ...ctx, tenantId: null }, memberAudit.appointInstallationAdmin, user!)
    await accessOfUserChanged(tx, ctx, user!.id)
    return user!
  })
}

/** Emits `accessChanged` in every tenant of the user. */
export async function accessOfUserChanged(tx: Tx, ctx: SystemCtx, userId: string): Promise<void> {
  for (const { tenantId } of await tx.select().from(members).where(eq(members.userId, userId)))
    ctx.notify(accessChanged({ id: userId, tenantId }))
}
