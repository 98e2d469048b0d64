import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { raiseAlerts } from '../alerts/index.ts'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Forbidden, NotFound, parseInput } from '../kernel/errors.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { fingerprint, HostKey } from '../nodes/index.ts'
import { computeNodes } from '../nodes/tables.ts'
import { bootAudit } from './audit-actions.ts'
import { hashBootToken } from './issue-tokens.ts'
import { bootPermissions } from './permissions.ts'
import { recordBootFetches } from './record-boot-fetches.ts'
import { bootTokens } from './tables.ts'

const PhoneHomeInput = z.object({
  token: z.string().max(200),
  /** SSH host key of the node, `type base64`. An invalid one is ignored: the report is accepted without it. */
  hostKey: z.string().max(4096).nullish(),
  /** SHA-256 of the body. */
  hash: z.string(),
  address: z.string().nullish(),
})

/**
 * Records that a node has booted, proven by the token of this boot, which is used up. The host key of a node without one is offered for
 * approval.
 * @throws NotFound there is no such token; Forbidden it was used before, or has expired
 */
export async function completePhoneHome(
  ctx: Ctx,
  input: z.input<typeof PhoneHomeInput>,
): Promise<{ nodeId: string; name: string }> {
  authorize(ctx, bootPermissions.serve)
  const { token, hash, address = null, ...report } = parseInput(PhoneHomeInput, input)
  const hostKey = HostKey.safeParse(report.hostKey ?? '')
  const isToken = and(visibleTo(ctx, bootTokens), eq(bootTokens.hash, hashBootToken(token)))
  const result = await inTransaction(ctx, async (tx, ctx) => {
    const [used] = await tx
      .update(bootTokens)
      .set({ usedAt: sql`now()`, usedFrom: address })
      .where(and(isToken, isNull(bootTokens.usedAt), gt(bootTokens.expiresAt, sql`now()`)))
      .returning()
    const row = used ?? (await tx.select().from(bootTokens).where(isToken))[0]
    if (!row) throw new NotFound('There is no such boot token.')
    const [node] = await tx.select().from(computeNodes).where(eq(computeNodes.id, row.nodeId)).for('no key update')
    if (!used) {
      const reason = row.usedAt ? 'the token was already used' : 'the token has expired'
      const alert = { tenantId: ctx.tenantId, nodeId: row.nodeId, kind: 'boot_token_refused' as const }
      for (const event of await raiseAlerts(tx, [{ ...alert, evidence: { reason, address } }])) ctx.notify(event)
      return { refusal: reason, node: node! }
    }
    const fetch = { nodeId: node!.id, nodeName: node!.name, kind: 'PHONE_HOME' as const, hash, address }
    await recordBootFetches(ctx, [{ ...fetch, profile: null, profileVersion: null }])
    const offered = hostKey.success && !node!.hostKey ? hostKey.data : null
    if (offered)
      await tx
        .update(computeNodes)
        .set({ offeredHostKey: offered, offeredHostKeyAt: sql`now()` })
        .where(eq(computeNodes.id, node!.id))
    await audit(tx, ctx, bootAudit.phoneHome, node!, { address, ...(offered ? { hostKey: fingerprint(offered) } : {}) })
    ctx.notify(nodeChanged({ id: node!.id, tenantId: ctx.tenantId }))
    return { refusal: null, node: node! }
  })
  // After the commit, so that the alert stays.
  if (result.refusal) throw new Forbidden(`The report of ${result.node.name} is refused: ${result.refusal}.`)
  return { nodeId: result.node.id, name: result.node.name }
}
