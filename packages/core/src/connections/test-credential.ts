import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { credentialAudit } from '../credentials/audit-actions.ts'
import { credentialPermissions } from '../credentials/permissions.ts'
import { credentials } from '../credentials/tables.ts'
import { authorizeNodes } from '../groups/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { isPasswordForNodes } from '../kernel/allowed-hosts.ts'
import { authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { findNodes } from '../selection/index.ts'
import { connectionTestChanged } from './change-events.ts'
import { connectionPermissions } from './permissions.ts'
import { testCredentialBlockedReason } from './policy.ts'
import { connectionTestQueue } from './queues.ts'
import { type ConnectionTest, connectionTests } from './tables.ts'

export const TestCredentialInput = z.object({ id: Id, nodeId: Id, idempotencyKey: IdempotencyKey })

/**
 * Tests a credential on a node, in place of the node's own of its kind. The node does not change; the result is recorded on the
 * credential.
 * @throws Forbidden a password requires `credential:use`
 * @throws NotFound, Conflict the node is decommissioned, local, outside the allowed hosts, or its host key is not approved
 */
export async function testCredential(ctx: Ctx, input: z.input<typeof TestCredentialInput>): Promise<ConnectionTest> {
  authorizeSomewhere(ctx, connectionPermissions.test)
  const { id, nodeId, idempotencyKey } = parseInput(TestCredentialInput, input)
  return idempotent(
    ctx,
    { verb: 'testCredential', key: idempotencyKey, input: { id, nodeId }, result: oneRow(connectionTests) },
    async (tx, ctx) => {
      const [credential] = await tx
        .select({
          id: credentials.id,
          name: credentials.name,
          kind: credentials.kind,
          allowedHosts: credentials.allowedHosts,
        })
        .from(credentials)
        .where(and(visibleTo(ctx, credentials), eq(credentials.id, id)))
        .for('key share')
      if (!credential) throw new NotFound(`There is no credential ${id}.`)
      if (isPasswordForNodes(credential))
        await authorizeNodes(tx, ctx, credentialPermissions.use, [nodeId], { credentialIds: [id] })
      const [node] = await findNodes(ctx, [nodeId], tx)
      await authorizeNodes(tx, ctx, connectionPermissions.test, [nodeId], { connects: true, credentialIds: [id] })
      const reason = testCredentialBlockedReason(credential, node!)
      if (reason) throw new Conflict(reason)
      const [test] = await tx.insert(connectionTests).values({ tenantId: ctx.tenantId, nodeId, credentialId: id }).returning()
      await ctx.queue.send(tx, connectionTestQueue, [{ id: test!.id, tenantId: ctx.tenantId }])
      await audit(tx, ctx, credentialAudit.test, credential, { node: node!.name })
      ctx.notify(connectionTestChanged({ id: test!.id, tenantId: ctx.tenantId }))
      return test!
    },
  )
}
