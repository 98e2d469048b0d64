import { z } from 'zod'
import { authorize, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { type InputIssue, InvalidInput, parseInput } from '../../kernel/errors.ts'
import type { LocalTarget } from '../../kernel/outbound/index.ts'
import { nodePermissions } from '../permissions.ts'
import { SetNodeBmcInput } from './fields.ts'
import { assertPublicAddresses, type BmcUpdate, bmcConflict, writeBmcUpdates } from './write-bmc-updates.ts'
import { bmcTaken, ownersOfBmcs, placeKey } from './write-bmcs.ts'

export const SetNodeBmcsInput = z.object({
  nodes: z
    .array(SetNodeBmcInput)
    .min(1)
    .max(10_000, 'at most 10,000 at once')
    .superRefine((nodes, ctx) => {
      const seen = new Set<string>()
      for (const [i, { nodeId }] of nodes.entries())
        if (seen.has(nodeId)) ctx.addIssue({ code: 'custom', path: [i, 'nodeId'], message: 'the node is given twice' })
        else seen.add(nodeId)
    }),
})
const at = (index: number) => `nodes.${index}.`

/**
 * Sets the BMCs of many nodes in a few statements: all of them or none. The checks and audit entries are those of `setNodeBmc`. Nodes can
 * exchange their BMCs.
 * @throws InvalidInput at `nodes.N.field`, also when a node that is not given has the BMC
 * @throws Forbidden, NotFound; Conflict a node is decommissioned, or a BMC is given to two nodes
 */
export async function setNodeBmcs(
  ctx: Ctx,
  input: z.input<typeof SetNodeBmcsInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<void> {
  authorize(ctx, nodePermissions.write)
  const { nodes } = parseInput(SetNodeBmcsInput, input)
  await assertPublicAddresses(nodes, at, localTargets)
  let updates: BmcUpdate[] = []
  const work = inTransaction(ctx, (tx, ctx) =>
    writeBmcUpdates(tx, ctx, nodes, at, async (wanted) => {
      updates = wanted
      await assertFree(tx, ctx, wanted)
    }),
  )
  await work.catch((error: unknown) => bmcConflict(ctx, error, updates))
}

/** @throws InvalidInput nodes that are not given have the BMCs */
async function assertFree(tx: Tx, ctx: Ctx, updates: BmcUpdate[]): Promise<void> {
  const given = new Set(updates.map(({ node }) => node.id))
  const owners = await ownersOfBmcs(
    tx,
    ctx,
    updates.map(({ after }) => after),
  )
  const others = new Map(owners.filter(({ nodeId }) => !given.has(nodeId)).map((owner) => [placeKey(owner), owner]))
  const issues = updates.flatMap(({ after }, i): InputIssue[] => {
    const owner = others.get(placeKey(after))
    return owner ? [{ path: `${at(i)}address`, message: bmcTaken(owner) }] : []
  })
  if (issues.length > 0) throw new InvalidInput(issues)
}
