import { and, eq, inArray } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { nodeGroups } from '../groups/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { FOREIGN_KEY_VIOLATION, sqlState, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { computeNodes } from '../nodes/tables.ts'
import { bootProfileAudit } from './audit-actions.ts'
import { bootProfileChanged } from './change-events.ts'
import { bootProfilePermissions } from './permissions.ts'
import { deleteBootProfileBlockedReason } from './policy.ts'
import { bootAssignments, bootProfiles } from './tables.ts'
import { findBootProfile, lockProfiles } from './write.ts'

type Db = Tx | Ctx['db']

/** What each of these profiles is assigned to, in words, by profile ID. */
export async function assignedTargets(db: Db, ctx: Ctx, profileIds: string[]): Promise<Map<string, string[]>> {
  const rows = await db
    .select({ id: bootAssignments.profileId, target: bootAssignments.target, node: computeNodes.name, group: nodeGroups.name })
    .from(bootAssignments)
    .leftJoin(computeNodes, eq(computeNodes.id, bootAssignments.nodeId))
    .leftJoin(nodeGroups, eq(nodeGroups.id, bootAssignments.groupId))
    .where(and(visibleTo(ctx, bootAssignments), inArray(bootAssignments.profileId, profileIds)))
    .orderBy(bootAssignments.target, nodeGroups.name, computeNodes.name)
  const found = new Map<string, string[]>(profileIds.map((id) => [id, []]))
  for (const { id, target, node, group } of rows)
    found
      .get(id)!
      .push(
        target === 'NODE'
          ? `the node ${node}`
          : target === 'GROUP'
            ? `the group ${group}`
            : target === 'ALL_NODES'
              ? 'all nodes'
              : 'unknown machines',
      )
  return found
}

/** Deletes a profile and its versions. @throws NotFound; Conflict it has children or assignments, which the message names */
export async function deleteBootProfile(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, bootProfilePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const profiles = await lockProfiles(tx, ctx)
    const profile = await findBootProfile(tx, ctx, id)
    const children = [...profiles.values()].flatMap(({ parentId, name }) => (parentId === id ? [name] : []))
    const assigned = (await assignedTargets(tx, ctx, [id])).get(id)!
    const blockedReason = deleteBootProfileBlockedReason(ctx.actor, profile, children.sort(), assigned)
    if (blockedReason) throw new Conflict(blockedReason)
    await tx
      .delete(bootProfiles)
      .where(and(visibleTo(ctx, bootProfiles), eq(bootProfiles.id, id)))
      .catch((error: unknown) => {
        if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error
        throw new Conflict(
          `The boot profile ${profile.name} is used by a boot rule, or was assigned at the same time. Change the rule, or check its assignments.`,
        )
      })
    await audit(tx, ctx, bootProfileAudit.delete, profile)
    ctx.notify(bootProfileChanged(profile))
    return { id }
  })
}
