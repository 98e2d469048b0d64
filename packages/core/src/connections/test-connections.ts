import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { IdempotencyKey, idempotent, rows } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { Ids } from '../kernel/input.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { findNodes } from '../selection/index.ts'
import { connectionTestChanged } from './change-events.ts'
import { connectionPermissions } from './permissions.ts'
import { connectionTestQueue } from './queues.ts'
import { type ConnectionTest, connectionTests } from './tables.ts'

export const TestConnectionsInput = z.object({
  nodeIds: Ids.refine((ids) => ids.length > 0, 'must name at least one node'),
  idempotencyKey: IdempotencyKey,
})

/**
 * Starts a connection test of each node, in stages. Needs no approved host key, because it fetches the offered one.
 * @returns one test per node, in the order given
 * @throws NotFound, Conflict a node is decommissioned
 */
export async function testConnections(ctx: Ctx, input: z.input<typeof TestConnectionsInput>): Promise<ConnectionTest[]> {
  authorizeSomewhere(ctx, connectionPermissions.test)
  const { nodeIds, idempotencyKey } = parseInput(TestConnectionsInput, input)
  return idempotent(
    ctx,
    { verb: 'testConnections', key: idempotencyKey, input: nodeIds, result: rows(connectionTests) },
    async (tx, ctx) => {
      const nodes = await findNodes(ctx, nodeIds, tx)
      await authorizeNodes(tx, ctx, connectionPermissions.test, nodeIds, { connects: true })
      const tests = await tx
        .insert(connectionTests)
        .values(nodes.map((node) => ({ tenantId: ctx.tenantId, nodeId: node.id })))
        .returning()
      await ctx.queue.send(
        tx,
        connectionTestQueue,
        tests.map((test) => ({ id: test.id, tenantId: ctx.tenantId })),
      )
      const names = new Map(nodes.map((node) => [node.id, node.name]))
      await audit(
        tx,
        ctx,
        nodeAudit.testConnection,
        tests.map((test) => ({ id: test.nodeId, name: names.get(test.nodeId)! })),
      )
      for (const test of tests) ctx.notify(connectionTestChanged({ id: test.id, tenantId: ctx.tenantId }))
      return tests
    },
  )
}
