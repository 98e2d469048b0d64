import { and, eq, sql } from 'drizzle-orm'
import { audit } from '../audit/index.ts'
import { credentialAudit } from '../credentials/audit-actions.ts'
import { credentials } from '../credentials/tables.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { fingerprint, HostKey, hostKeyAlarm, isHostKeyChanged } from '../nodes/index.ts'
import { computeNodes } from '../nodes/tables.ts'
import { connectionPermissions } from './permissions.ts'

/** PINNED: the approved key. NEW: no key is approved yet. CHANGED: a key other than the approved one. */
export type OfferedKeyState = 'PINNED' | 'NEW' | 'CHANGED'
export type OfferedHostKey = { objectType: 'ComputeNode' | 'Credential'; objectId: string; key: string }

/**
 * Records the host key that a node or bastion offered. A changed key makes a node UNREACHABLE, and nothing connects until it is
 * approved or the approved key is offered again.
 * @param key `type base64`
 * @throws NotFound the node or bastion is gone
 */
export async function recordOfferedHostKey(ctx: Ctx, { objectType, objectId, key }: OfferedHostKey): Promise<OfferedKeyState> {
  authorize(ctx, connectionPermissions.report)
  const offered = parseInput(HostKey, key)
  return inTransaction(ctx, async (tx, ctx) => {
    const table = objectType === 'ComputeNode' ? computeNodes : credentials
    const scope = and(visibleTo(ctx, table), eq(table.id, objectId))
    const [row] = await tx.select().from(table).where(scope).for('no key update')
    if (!row) throw new NotFound(`There is no ${objectType === 'ComputeNode' ? 'node' : 'bastion'} ${objectId}.`)
    const isPinned = row.hostKey === offered
    if (isPinned ? row.offeredHostKey === null : row.offeredHostKey === offered)
      return isPinned ? 'PINNED' : row.hostKey ? 'CHANGED' : 'NEW'

    const isAlarm = !isPinned && row.hostKey !== null
    if (objectType === 'ComputeNode') {
      await tx
        .update(computeNodes)
        .set({
          offeredHostKey: isPinned ? null : offered,
          offeredHostKeyAt: isPinned ? null : sql`now()`,
          ...(isAlarm
            ? {
                unreachableSince: sql`coalesce(${computeNodes.unreachableSince}, now())`,
                unreachableReason: hostKeyAlarm({ hostKey: row.hostKey!, offeredHostKey: offered }),
              }
            : {}),
          ...(isPinned && isHostKeyChanged(row) ? { unreachableSince: null, unreachableReason: null } : {}),
        })
        .where(scope)
      ctx.notify(nodeChanged({ id: objectId, tenantId: ctx.tenantId }))
    } else {
      await tx
        .update(credentials)
        .set({ offeredHostKey: isPinned ? null : offered })
        .where(scope)
    }
    if (isAlarm)
      await audit(tx, ctx, (objectType === 'ComputeNode' ? nodeAudit : credentialAudit).hostKeyChanged, row, {
        approved: fingerprint(row.hostKey!),
        offered: fingerprint(offered),
      })
    return isPinned ? 'PINNED' : isAlarm ? 'CHANGED' : 'NEW'
  })
}
