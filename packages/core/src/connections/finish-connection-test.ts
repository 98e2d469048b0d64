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
 * End a connection test. Success makes the node READY; the first one also has it discovered. Failure makes it UNREACHABLE,
 * unless all that is missing is the approval of a first host key: then something answered, and it is as it was before. The result
 * of a test that tries another credential is the credential's alone.
 * @param error for the operator, null when `isOk`
 * @param awaitsApproval all that stands in the way is a first host key, the node's own or a bastion's
 * @returns null when the test was over already
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
    const mine = and(visibleTo(ctx, computeNodes), eq(computeNodes.id, test.nodeId))
    const [node] = await tx.select().from(computeNodes).where(mine).for('no key update')
    const refusal = await recordCredentialResults(tx, ctx, test, node ?? { credentialId: null, becomeCredentialId: null })
    if (test.credentialId) {
      if (!isOk || !refusal) return test
      // The node can be looked at without it, but it was what was to be tried.
      const failed = { isOk: false, error: refusal }
      await tx.update(connectionTests).set(failed).where(eq(connectionTests.id, id))
      return { ...test, ...failed }
    }
    // A result from before the address changed or the key was dropped says nothing of the node as it is now.
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
        .where(mine)
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
        .where(mine)
    }
    ctx.notify(nodeChanged({ id: node.id, tenantId: ctx.tenantId }))
    return test
  })
}
