import { z } from 'zod'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { nodePermissions } from '../permissions.ts'
import { deleteBmcs } from './remove-node-bmc.ts'

const RemoveNodeBmcsInput = z.object({ nodeIds: z.array(Id).min(1).max(10_000, 'at most 10,000 at once') })

/**
 * Removes the BMCs of many nodes in a few statements: all of them or none. The checks and audit entries are those of `removeNodeBmc`.
 * @throws NotFound; Conflict a node has no BMC, or slurmctld may suspend it
 */
export async function removeNodeBmcs(ctx: Ctx, input: z.input<typeof RemoveNodeBmcsInput>): Promise<void> {
  authorize(ctx, nodePermissions.write)
  const { nodeIds } = parseInput(RemoveNodeBmcsInput, input)
  await inTransaction(ctx, (tx, ctx) => deleteBmcs(tx, ctx, [...new Set(nodeIds)]))
}
