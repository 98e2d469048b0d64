import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, type ResultStore } from '../../idempotency/index.ts'
import { type Actor, authorize, type Ctx, type SystemCtx, type Tx } from '../../kernel/context.ts'
import { nameTaken } from '../../kernel/db/rows.ts'
import { Forbidden, parseInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { syncBuiltInTemplates } from '../../templates/index.ts'
import { memberAudit, tenantAudit } from '../audit-actions.ts'
import { accessChanged } from '../change-events.ts'
import { tenantPermissions } from '../permissions.ts'
import { members, type Tenant, tenants, users } from '../tables.ts'

export const TenantName = singleLineText(100)

export const CreateTenantInput = z.object({ name: TenantName, idempotencyKey: IdempotencyKey })

const result: ResultStore<Tenant> = {
  store: ({ id }) => id,
  load: async (tx, _ctx, id) =>
    (
      await tx
        .select()
        .from(tenants)
        .where(eq(tenants.id, id as string))
    )[0],
}

/**
 * Creates a tenant with the built-in job templates. A user who creates one becomes its owner.
 * @throws Conflict the name is taken; Forbidden the caller is the token of a service account, which belongs to one tenant
 */
export async function createTenant(
  ctx: SystemCtx & Partial<Pick<Ctx, 'tenantId' | 'systemDb'>>,
  input: z.input<typeof CreateTenantInput>,
): Promise<Tenant> {
  authorize(ctx, tenantPermissions.create)
  const { name, idempotencyKey } = parseInput(CreateTenantInput, input)
  // Only the system role sees other tenants.
  const systemDb = ctx.systemDb ?? ctx.db
  const caller: Ctx = { tenantId: '', ...ctx, systemDb, db: systemDb }
  return idempotent(caller, { verb: 'createTenant', key: idempotencyKey, input: { name }, result }, async (tx, caller) => {
    const [tenant] = await tx.insert(tenants).values({ name }).onConflictDoNothing().returning()
    if (!tenant) throw nameTaken('tenant', name)
    const created: Ctx = { ...caller, tenantId: tenant.id }
    await syncBuiltInTemplates(tx, tenant.id)
    for (const tenantId of [tenant.id, null]) await audit(tx, { ...created, tenantId }, tenantAudit.create, tenant)
    const owner = userOf(caller.actor)
    if (owner) await addOwner(tx, created, owner)
    return tenant
  })
}

const userOf = (actor: Actor): string | null => (actor.kind === 'user' ? actor.id : actor.kind === 'token' ? actor.userId : null)

async function addOwner(tx: Tx, ctx: Ctx, userId: string): Promise<void> {
  const [user] = await tx.select().from(users).where(eq(users.id, userId))
  if (!user || user.isServiceAccount)
    throw new Forbidden('A service account belongs to one tenant and cannot own another. Create the tenant as a user.')
  const [member] = await tx.insert(members).values({ tenantId: ctx.tenantId, userId, role: 'owner' }).returning()
  await audit(tx, ctx, memberAudit.add, { id: member!.id, name: user.name }, { role: 'owner' })
  ctx.notify(accessChanged({ id: userId, tenantId: ctx.tenantId }))
}
