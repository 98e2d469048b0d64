import { z } from 'zod'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { nodePermissions } from '../nodes/index.ts'
import { retireNodes } from './decommission-node.ts'

const DecommissionNodesInput = z.object({ ids: z.array(Id).min(1).max(10_000, 'at most 10,000 at once') })

/**
 * Decommissions many nodes in a few statements: all of them or none. The checks and audit entries are those of `decommissionNode`.
 * @throws NotFound, Forbidden; Conflict a node is decommissioned already, or an unfinished run targets it
 */
export async function decommissionNodes(ctx: Ctx, input: z.input<typeof DecommissionNodesInput>): Promise<void> {
  authorizeSomewhere(ctx, nodePermissions.write)
  const { ids } = parseInput(DecommissionNodesInput, input)
  await inTransaction(ctx, (tx, ctx) => retireNodes(tx, ctx, [...new Set(ids)]))
}
