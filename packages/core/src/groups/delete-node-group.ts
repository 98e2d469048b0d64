import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { bootRules } from '../boot-service/tables.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { FOREIGN_KEY_VIOLATION, sqlState, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { nodeGroupAudit } from './audit-actions.ts'
import { managedClusterOf } from './managed-cluster.ts'
import { groupPermissions } from './permissions.ts'
import { lockGroupTree } from './place.ts'
import { deleteBlockedReason } from './policy.ts'
import { nodeGroups } from './tables.ts'

/**
 * Deletes a group; its nodes stay.
 * @throws NotFound, Conflict for a system group, one with child groups, of a managed cluster, or of a boot rule
 */
export async function deleteNodeGroup(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, groupPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx) => {
    const { byId } = await lockGroupTree(tx, ctx)
    const group = byId.get(id)
    if (!group) throw new NotFound(`There is no group ${id}.`)
    const children = [...byId.values()].filter((each) => each.parentId === id).map((each) => each.name)
    const rules = await tx
      .select({ name: bootRules.name })
      .from(bootRules)
      .where(and(visibleTo(ctx, bootRules), eq(bootRules.groupId, id)))
    const users = { cluster: await managedClusterOf(tx, ctx, id), bootRules: rules.map(({ name }) => name) }
    const blockedReason = deleteBlockedReason(ctx.actor, group, children, users)
    if (blockedReason) throw new Conflict(blockedReason)
    await tx
      .delete(nodeGroups)
      .where(and(visibleTo(ctx, nodeGroups), eq(nodeGroups.id, id)))
      .catch((error: unknown) => {
        if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error
        throw new Conflict(`A boot rule began to use the group ${group.name} a moment ago. Change or delete the rule first.`)
      })
    await audit(tx, ctx, nodeGroupAudit.delete, group)
    return { id }
  })
}
