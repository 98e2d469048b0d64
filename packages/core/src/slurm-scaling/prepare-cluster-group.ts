import { randomBytes } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import { slurmClusters } from '../clusters/tables.ts'
import { createNodeGroup, nodeGroups, setNodeGroupMembers } from '../groups/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import { setSecretVar, unsetSecretVar } from '../variables/index.ts'
import { variableScopes } from '../variables/tables.ts'
import { slurmScalePermissions } from './permissions.ts'

/** The variable that the role slurm_node reads. */
const MUNGE_KEY = 'slurm_munge_key'
/** As base64 it has 1024 characters, the longest key that mungekey creates. */
const KEY_BYTES = 768
/** The variable that the role reads on the node with the database. */
const DATABASE_PASSWORD = 'slurm_database_password'
const PASSWORD_BYTES = 24

/** Name of the group of a managed cluster. Group names have no hyphens. */
export const clusterGroupName = (name: string): string => `slurm_${name.replaceAll('-', '_')}`

/**
 * Creates the group of a managed cluster with its munge key, unless it exists, and adds nodes to it. The key is encrypted before it is
 * stored, and only a worker decrypts it into runs on these nodes.
 * @returns ID of the group
 * @throws Conflict another group has the name
 */
export async function prepareClusterGroup(
  ctx: Ctx,
  { clusterId, nodeIds }: { clusterId: string; nodeIds: string[] },
): Promise<string> {
  authorize(ctx, slurmScalePermissions.report)
  const groupId = await inTransaction(ctx, async (tx, ctx) => {
    const [cluster] = await tx
      .select()
      .from(slurmClusters)
      .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
      .for('update')
    if (cluster?.nodeGroupId) return cluster.nodeGroupId
    const name = clusterGroupName(cluster!.name)
    const [other] = await tx
      .select({ id: nodeGroups.id })
      .from(nodeGroups)
      .where(and(visibleTo(ctx, nodeGroups), eq(nodeGroups.name, name)))
    if (other) throw new Conflict(`There is already a group named ${name}. Rename it, and try again.`)
    const group = await createNodeGroup(ctx, {
      name,
      description: `Nodes of the Slurm cluster ${cluster!.name}, which Muster manages. It has the munge key of the cluster.`,
    })
    await tx.update(slurmClusters).set({ nodeGroupId: group.id }).where(eq(slurmClusters.id, clusterId))
    return group.id
  })
  const [scope] = await ctx.db
    .select({ secrets: variableScopes.secrets })
    .from(variableScopes)
    .where(and(visibleTo(ctx, variableScopes), eq(variableScopes.groupId, groupId)))
  if (!scope || !(MUNGE_KEY in scope.secrets))
    await setSecretVar(ctx, { groupId, name: MUNGE_KEY, value: randomBytes(KEY_BYTES).toString('base64') })
  if (nodeIds.length > 0) await setNodeGroupMembers(ctx, { id: groupId, addNodeIds: nodeIds })
  return groupId
}

/** Generates the password of slurmdbd's database account, unless the node with the database has one. Only runs on this node get it. */
export async function prepareDatabasePassword(ctx: Ctx, { nodeId }: { nodeId: string }): Promise<void> {
  authorize(ctx, slurmScalePermissions.report)
  if (await hasPassword(ctx, nodeId)) return
  await setSecretVar(ctx, { nodeId, name: DATABASE_PASSWORD, value: randomBytes(PASSWORD_BYTES).toString('base64url') })
}

/** Removes the password from the node when the creation is undone. The next creation sets another one, in the database too. */
export async function removeDatabasePassword(ctx: Ctx, { nodeId }: { nodeId: string }): Promise<void> {
  authorize(ctx, slurmScalePermissions.report)
  if (await hasPassword(ctx, nodeId)) await unsetSecretVar(ctx, { nodeId, name: DATABASE_PASSWORD })
}

async function hasPassword(ctx: Ctx, nodeId: string): Promise<boolean> {
  const [scope] = await ctx.db
    .select({ secrets: variableScopes.secrets })
    .from(variableScopes)
    .where(and(visibleTo(ctx, variableScopes), eq(variableScopes.nodeId, nodeId)))
  return scope !== undefined && DATABASE_PASSWORD in scope.secrets
}

/** Removes nodes from the group of a managed cluster: runs on them get the munge key no longer. */
export async function leaveClusterGroup(
  ctx: Ctx,
  { clusterId, nodeIds }: { clusterId: string; nodeIds: string[] },
): Promise<void> {
  authorize(ctx, slurmScalePermissions.report)
  const [cluster] = await ctx.db
    .select({ nodeGroupId: slurmClusters.nodeGroupId })
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
  if (cluster?.nodeGroupId && nodeIds.length > 0)
    await setNodeGroupMembers(ctx, { id: cluster.nodeGroupId, removeNodeIds: nodeIds })
}
