import { authorizeGroup, authorizeNodes } from '../groups/index.ts'
import { authorize, type Ctx, type Tx } from '../kernel/context.ts'
import { variablePermissions } from './permissions.ts'
import type { ScopeRef } from './scope.ts'

/**
 * Checks that the caller may set the variables of this scope: of all nodes, a group or a node.
 * @throws Forbidden, NotFound
 */
export async function authorizeScope(tx: Tx, ctx: Ctx, { groupId, nodeId }: ScopeRef): Promise<void> {
  const permission = variablePermissions.write
  if (nodeId) await authorizeNodes(tx, ctx, permission, [nodeId])
  else if (groupId) await authorizeGroup(tx, ctx, permission, groupId)
  else authorize(ctx, permission)
}
