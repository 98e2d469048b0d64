import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { credentials } from '../credentials/tables.ts'
import { visibleTo } from '../db/rows.ts'
import { Conflict, NotFound, parseInput } from '../errors.ts'
import { Id } from '../input.ts'
import { findNodes } from './find-nodes.ts'
import { whyNotTestCredential } from './policy.ts'
import { type ConnectionTest, connectionTests } from './tables.ts'

export const TestCredentialInput = z.object({ id: Id, nodeId: Id })

/**
 * Have a worker try a credential on a node in place of the node's own of its kind, stage by stage. The node stays as it is; the
 * credential remembers the result.
 * @throws NotFound, Conflict the node is decommissioned, local, or its host key is not approved
 */
export async function testCredential(ctx: Ctx, input: z.input<typeof TestCredentialInput>): Promise<ConnectionTest> {
  authorize(ctx, 'node:discover')
  const { id, nodeId } = parseInput(TestCredentialInput, input)
  return inTransaction(ctx, async (tx, afterwards) => {
    const [credential] = await tx
      .select({ id: credentials.id, name: credentials.name, kind: credentials.kind })
      .from(credentials)
      .where(and(visibleTo(ctx, credentials), eq(credentials.id, id)))
      .for('key share')
    if (!credential) throw new NotFound(`There is no credential ${id}.`)
    const [node] = await findNodes(ctx, [nodeId], tx)
    const reason = whyNotTestCredential(credential, node!)
    if (reason) throw new Conflict(reason)
    const [test] = await tx.insert(connectionTests).values({ tenantId: ctx.tenantId, nodeId, credentialId: id }).returning()
    await ctx.queue.send(tx, 'connection-test', [{ id: test!.id, tenantId: ctx.tenantId }])
    await audit(tx, ctx, 'credential.test', credential, { node: node!.name })
    afterwards({ topic: 'connectionTest', id: test!.id, tenantId: ctx.tenantId })
    return test!
  })
}
