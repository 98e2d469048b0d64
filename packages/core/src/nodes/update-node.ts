import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { identityConflict } from './identity-conflict.ts'
import { nodePermissions } from './permissions.ts'
import { type ComputeNode, computeNodes } from './tables.ts'
import { UpdateNodeInput, writeNodeUpdates } from './write-updates.ts'

export { UpdateNodeInput } from './write-updates.ts'

/**
 * Changes the given fields; null clears a field. Another host, port or connection type drops the pinned host key and makes the
 * node NEW; the audit entry keeps the old address and fingerprint. `interfaces` replaces all interfaces.
 * @throws InvalidInput, Forbidden, NotFound
 * @throws Conflict the node is decommissioned, or the name, xname, NID or a MAC is taken
 */
export async function updateNode(ctx: Ctx, input: z.input<typeof UpdateNodeInput>): Promise<ComputeNode> {
  authorizeSomewhere(ctx, nodePermissions.write)
  const update = parseInput(UpdateNodeInput, input)
  const work = inTransaction(ctx, async (tx, ctx) => {
    await writeNodeUpdates(tx, ctx, [update], () => '')
    const [node] = await tx
      .select()
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, update.id)))
    return node!
  })
  return work.catch(async (error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw await identityConflict(ctx.db, ctx, update, update.id)
    throw error
  })
}
