import type { z } from 'zod'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import type { LocalTarget } from '../../kernel/outbound/index.ts'
import { nodePermissions } from '../permissions.ts'
import type { NodeBmc } from '../tables.ts'
import { SetNodeBmcInput } from './fields.ts'
import { assertPublicAddresses, type BmcUpdate, bmcConflict, writeBmcUpdates } from './write-bmc-updates.ts'

const at = () => ''

/**
 * Sets the BMC of a node, or the given fields of the BMC that it has; null clears a field. Another address, port or protocol also clears
 * the fingerprint, because another machine answers there. Grants for some nodes do not suffice: another machine would be powered off as
 * one of them.
 * @param localTargets the local addresses that the installation allows
 * @throws InvalidInput, Forbidden, NotFound
 * @throws Conflict the node is decommissioned, or another node has the BMC
 */
export async function setNodeBmc(
  ctx: Ctx,
  input: z.input<typeof SetNodeBmcInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<NodeBmc> {
  authorize(ctx, nodePermissions.write)
  const given = [parseInput(SetNodeBmcInput, input)]
  await assertPublicAddresses(given, at, localTargets)
  let updates: BmcUpdate[] = []
  const work = inTransaction(ctx, async (tx, ctx) => {
    const [bmc] = await writeBmcUpdates(tx, ctx, given, at, async (wanted) => {
      updates = wanted
    })
    return bmc!
  })
  return work.catch((error: unknown) => bmcConflict(ctx, error, updates))
}
