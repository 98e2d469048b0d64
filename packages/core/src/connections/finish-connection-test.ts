import { and, eq, isNull, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { requestDiscoveries } from '../discoveries/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { connectBlockedReason, isHostKeyChanged } from '../nodes/index.ts'
import { computeNodes } from '../nodes/tables.ts'
import { connectionTestChanged } from './change-events.ts'
import { connectionPermissions } from './permissions.ts'
import { recordCredentialResults } from './record-credential-results.ts'
import { type ConnectionTest, connectionTests } from './tables.ts'

/**
 * Ends a connection test. Success makes the node READY, and the first success starts a discovery. Failure makes it UNREACHABLE,
 * except when only the approval of a first host key is missing: then something answered, and the node does not change. The test
 * of another credential only affects that credential.
 * @param error for the operator, null when `isOk`
 * @param awaitsApproval only the approval of a first host key is missing, the node's own or a bastion's
 * @returns null when the test had already ended
 */
export async function finishConnectionTest(
  ctx: Ctx,
  { id, isOk, error, awaitsApproval = false }: { id: string; isOk: boolean; error: string | null; awaitsApproval?: boolean },
): Promise<ConnectionTest | null> {
  authorize(ctx, connectionPermissions.report)
  return inTransaction(ctx, async (tx, ctx) => {
    const [test] = await tx
      .update(connectionTests)
      .set({ isOk, error, startedAt: sql`coalesce(${connectionTests.startedAt}, now())`, finishedAt: sql`now()` })
      .where(and(visibleTo(ctx, connectionTests), eq(connectionTests.id, id), isNull(connectionTests.finishedAt)))
      .returning()
    if (!test) return null
    ctx.notify(connectionTestChanged({ id, tenantId: ctx.tenantId }))
    const scope = and(visibleTo(ctx, computeNodes), eq(computeNodes.id, test.nodeId))
    const [node] = await tx.select().from(computeNodes).where(scope).for('no key update')
    const rejection = await recordCredentialResults(tx, ctx, test, node ?? { credentialId: null, becomeCredentialId: null })
    if (test.credentialId) {
      if (!isOk || !rejection) return test
      // The node is usable without this credential, but the test was of the credential.
      const failed = { isOk: false, error: rejection }
      await tx.update(connectionTests).set(failed).where(eq(connectionTests.id, id))
      return { ...test, ...failed }
    }
    // A result from before the address changed or the key was dropped does not apply to the current node.
    if (!node || (isOk && connectBlockedReason(node))) return test
    if (isOk) {
      await tx
        .update(computeNodes)
        .set({
          readyAt: sql`coalesce(${computeNodes.readyAt}, now())`,
          lastSeenAt: sql`now()`,
          unreachableSince: null,
          unreachableReason: null,
        })
        .where(scope)
      if (!node.readyAt) {
        await requestDiscoveries(tx, ctx, [node], 'onboarding')
        await audit(tx, ctx, nodeAudit.ready, node)
      }
    } else if (!isHostKeyChanged(node)) {
      const isWaiting = awaitsApproval || (node.hostKey === null && node.offeredHostKey !== null)
      const since = sql`coalesce(${computeNodes.unreachableSince}, now())`
      await tx
        .update(computeNodes)
        .set({ unreachableSince: isWaiting ? null : since, unreachableReason: isWaiting ? null : error })
        .where(scope)
    }
    ctx.notify(nodeChanged({ id: node.id, tenantId: ctx.tenantId }))
    return test
  })
}
