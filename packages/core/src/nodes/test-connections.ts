import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { parseInput } from '../errors.ts'
import { Ids } from '../input.ts'
import { findNodes } from './find-nodes.ts'
import { type ConnectionTest, connectionTests } from './tables.ts'

export const TestConnectionsInput = z.object({ nodeIds: Ids.refine((ids) => ids.length > 0, 'must name at least one node') })

/**
 * Have a worker try, stage by stage, how far it gets on each node. Needs no approved host key: that is how one gets there.
 * @returns one test per node, in the order given
 * @throws NotFound, Conflict a node is decommissioned
 */
export async function testConnections(ctx: Ctx, input: z.input<typeof TestConnectionsInput>): Promise<ConnectionTest[]> {
  authorize(ctx, 'node:discover')
  const { nodeIds } = parseInput(TestConnectionsInput, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const nodes = await findNodes(ctx, nodeIds, tx)
    const tests = await tx
      .insert(connectionTests)
      .values(nodes.map((node) => ({ tenantId: ctx.tenantId, nodeId: node.id })))
      .returning()
    await ctx.queue.send(
      tx,
      'connection-test',
      tests.map((test) => ({ id: test.id, tenantId: ctx.tenantId })),
    )
    const names = new Map(nodes.map((node) => [node.id, node.name]))
    await audit(
      tx,
      ctx,
      'node.test_connection',
      tests.map((test) => ({ id: test.nodeId, name: names.get(test.nodeId)! })),
    )
    for (const test of tests) afterwards({ topic: 'connectionTest', id: test.id, tenantId: ctx.tenantId })
    return tests
  })
}
