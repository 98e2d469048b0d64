import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { nameTaken } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { nodeGroupAudit } from './audit-actions.ts'
import { assertNotOwnGrant } from './authorize-nodes.ts'
import { GROUP_FIELDS } from './fields.ts'
import { assertNoManagedGroup } from './managed-cluster.ts'
import { groupPermissions } from './permissions.ts'
import { checkPlace, lockGroupTree } from './place.ts'
import { type NodeGroup, nodeGroups } from './tables.ts'

export const CreateNodeGroupInput = z.object({ ...GROUP_FIELDS, idempotencyKey: IdempotencyKey })

/**
 * Creates a group with a list of members, or with `memberQuery` a group of the matching nodes.
 * @throws InvalidInput; Conflict the name is taken, or a group above is that of a managed cluster
 */
export async function createNodeGroup(ctx: Ctx, input: z.input<typeof CreateNodeGroupInput>): Promise<NodeGroup> {
  authorize(ctx, groupPermissions.write)
  const given = parseInput(CreateNodeGroupInput, input)
  if (given.isSystem) authorize(ctx, groupPermissions.setSystem)
  const place = {
    parentId: given.parentId ?? null,
    memberQuery: given.memberQuery ?? null,
    exclusiveSet: given.exclusiveSet ?? '',
  }
  return idempotent(
    ctx,
    { verb: 'createNodeGroup', key: given.idempotencyKey, input: given, result: oneRow(nodeGroups) },
    async (tx) => {
      const tree = await lockGroupTree(tx, ctx)
      checkPlace(tree, null, place)
      const parent = tree.byId.get(place.parentId ?? '')
      // The members of a group are members of all groups above it.
      await assertNoManagedGroup(tx, ctx, parent ? tree.upwards(parent) : [])
      await assertNotOwnGrant(tx, ctx, [place.parentId])
      const [group] = await tx
        .insert(nodeGroups)
        .values({
          tenantId: ctx.tenantId,
          name: given.name,
          displayName: given.displayName ?? null,
          description: given.description ?? '',
          kind: given.kind ?? 'AD_HOC',
          priority: given.priority ?? 100,
          isSystem: given.isSystem ?? false,
          ...place,
        })
        .onConflictDoNothing()
        .returning()
      if (!group) throw nameTaken('group', given.name)
      await audit(tx, ctx, nodeGroupAudit.create, group)
      return group
    },
  )
}
