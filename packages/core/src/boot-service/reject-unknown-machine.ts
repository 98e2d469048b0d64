import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id, multilineText } from '../kernel/input.ts'
import { unknownMachineAudit } from './audit-actions.ts'
import { unknownMachineChanged } from './change-events.ts'
import { unknownMachinePermissions } from './permissions.ts'
import { rejectUnknownMachineBlockedReason } from './policy.ts'
import { type UnknownMachine, unknownMachines } from './tables.ts'

const RejectUnknownMachineInput = z.object({ id: Id, reason: multilineText(500).nullish() })

/**
 * Rejects a machine: it boots from its own disk, and is not listed among the new ones. It can be accepted later.
 * @throws NotFound; Conflict it is accepted or rejected
 */
export async function rejectUnknownMachine(ctx: Ctx, input: z.input<typeof RejectUnknownMachineInput>): Promise<UnknownMachine> {
  authorize(ctx, unknownMachinePermissions.write)
  const { id, reason } = parseInput(RejectUnknownMachineInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [machine] = await tx
      .update(unknownMachines)
      .set({ rejectedAt: sql`now()`, ...actorColumns(ctx, 'rejected'), rejectedReason: reason || null })
      .where(and(visibleTo(ctx, unknownMachines), eq(unknownMachines.id, id), eq(unknownMachines.state, 'NEW')))
      .returning()
    if (!machine)
      throw await notFoundOrConflict(tx, ctx, unknownMachines, id, 'unknown machine', (row) =>
        rejectUnknownMachineBlockedReason(ctx.actor, row),
      )
    await audit(tx, ctx, unknownMachineAudit.reject, { id, name: machine.mac }, { reason: machine.rejectedReason })
    ctx.notify(unknownMachineChanged({ id, tenantId: ctx.tenantId }))
    return machine
  })
}
