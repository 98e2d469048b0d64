import { createHash } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import { unapprovedBastionReasons } from '../credentials/index.ts'
import { credentials } from '../credentials/tables.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { connectBlockedReason } from '../nodes/index.ts'
import { computeNodes, LEAN_NODE } from '../nodes/tables.ts'
import { slurmClusterPermissions } from './permissions.ts'

/** `version` differs after a change of the node's address, account, credential, bastion or approved host key. */
export type ControllerLoginState = { blockedReason: string | null; version: string }

/** Reads whether a worker may use a controller's host, without its secrets: an open session is checked at each use. */
export async function readControllerLogin(ctx: Ctx, { nodeId }: { nodeId: string }): Promise<ControllerLoginState> {
  authorize(ctx, slurmClusterPermissions.report)
  const [found] = await ctx.db
    .select({ node: LEAN_NODE, credentialChangedAt: sql<string | null>`${credentials.updatedAt}::text` })
    .from(computeNodes)
    .leftJoin(credentials, and(visibleTo(ctx, credentials), eq(credentials.id, computeNodes.credentialId)))
    .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, nodeId)))
  if (!found) return { blockedReason: `There is no node ${nodeId}.`, version: '' }
  const { node, credentialChangedAt } = found
  const { connectionType, host, port, sshUser, credentialId, bastionId, hostKey } = node
  const bastions = await unapprovedBastionReasons(ctx, ctx.db, bastionId ? [bastionId] : [])
  const login = [connectionType, host, port, sshUser, credentialId, credentialChangedAt, bastionId, hostKey]
  return {
    blockedReason: connectBlockedReason(node) ?? (bastionId ? (bastions.get(bastionId) ?? null) : null),
    version: createHash('sha256').update(JSON.stringify(login)).digest('hex'),
  }
}
