import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { type Ctx, inTransaction, type SystemCtx } from '../../kernel/context.ts'
import { Forbidden, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { tenantAudit } from '../audit-actions.ts'
import { findMemberships } from '../queries.ts'
import { sessions } from '../tables.ts'

export const SwitchTenantInput = z.object({ sessionId: Id, tenantId: Id })

/**
 * Changes the tenant in which a session of the caller works.
 * @throws Forbidden the caller is not an active member of the tenant; NotFound the session ended
 */
export async function switchTenant(caller: SystemCtx, input: z.input<typeof SwitchTenantInput>): Promise<void> {
  const { sessionId, tenantId } = parseInput(SwitchTenantInput, input)
  const { actor } = caller
  if (actor.kind !== 'user') throw new Forbidden('Only users have sessions.')
  await inTransaction(caller, async (tx, caller) => {
    const [session] = await tx
      .update(sessions)
      .set({ activeTenantId: tenantId })
      .where(and(eq(sessions.id, sessionId), eq(sessions.userId, actor.id)))
      .returning({ provider: sessions.provider })
    if (!session) throw new NotFound('The session has ended. Sign in again.')
    const memberships = await findMemberships(tx, actor.id, session.provider)
    const membership = memberships.find((each) => each.tenantId === tenantId)
    if (!membership)
      throw new Forbidden(
        'You are not an active member of this tenant in this session. Ask one of its admins for an invitation, or sign in at your identity provider.',
      )
    const ctx: Ctx = { ...caller, systemDb: caller.db, tenantId }
    await audit(tx, ctx, tenantAudit.switch, { id: tenantId, name: membership.tenantName })
  })
}
