import { and, eq, inArray } from 'drizzle-orm'
import { slurmMessages } from '../clusters/index.ts'
import { type SlurmCluster, slurmNodes } from '../clusters/tables.ts'
import { nodeGroupMembers } from '../groups/index.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes, nodeBmcs } from '../nodes/tables.ts'
import { powerTargetBlockedReason } from '../power/index.ts'

export type MemberNode = { id: string; name: string }

/**
 * Resolves names of a cluster to the nodes of the inventory that its controllers may power. The report of a controller only maps names to
 * nodes that Muster added to the cluster; it cannot add others.
 * @returns by NodeName: the node, or why the controllers may not power it
 */
export async function memberNodes(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  cluster: SlurmCluster,
  names: readonly string[],
): Promise<Map<string, MemberNode | string>> {
  const rows = await db
    .select({ slurmName: slurmNodes.name, id: computeNodes.id, name: computeNodes.name, status: computeNodes.status })
    .from(slurmNodes)
    .innerJoin(computeNodes, eq(computeNodes.id, slurmNodes.nodeId))
    .innerJoin(nodeGroupMembers, eq(nodeGroupMembers.nodeId, computeNodes.id))
    .where(
      and(
        visibleTo(ctx, slurmNodes),
        eq(slurmNodes.clusterId, cluster.id),
        isOneOf(slurmNodes.name, [...names], 'text'),
        cluster.nodeGroupId === null ? undefined : eq(nodeGroupMembers.groupId, cluster.nodeGroupId),
      ),
    )
  const bmcs = await bmcsOf(
    db,
    ctx,
    rows.map(({ id }) => id),
  )
  const servers = [cluster.controllerNodeId, cluster.backupNodeId, cluster.databaseNodeId, ...cluster.configNodeIds]
  const found = new Map(cluster.nodeGroupId === null ? [] : rows.map((row) => [row.slurmName, row]))
  return new Map(
    names.map((name): [string, MemberNode | string] => {
      const node = found.get(name)
      if (!node) return [name, slurmMessages.notMember({ node: name, name: cluster.name })]
      if (servers.includes(node.id)) return [name, slurmMessages.runsServices({ node: node.name })]
      return [name, powerTargetBlockedReason(node, bmcs.get(node.id)) ?? { id: node.id, name: node.name }]
    }),
  )
}

const bmcsOf = async (db: Tx | Ctx['db'], ctx: Ctx, nodeIds: string[]) =>
  new Map(
    (
      await db
        .select({ nodeId: nodeBmcs.nodeId, protocol: nodeBmcs.protocol })
        .from(nodeBmcs)
        .where(and(visibleTo(ctx, nodeBmcs), isOneOf(nodeBmcs.nodeId, nodeIds)))
    ).map((bmc) => [bmc.nodeId, bmc]),
  )

/** Which of the nodes have no BMC. */
export async function withoutBmc(db: Tx | Ctx['db'], ctx: Ctx, nodeIds: string[]): Promise<Set<string>> {
  if (nodeIds.length === 0) return new Set()
  const found = await db
    .select({ nodeId: nodeBmcs.nodeId })
    .from(nodeBmcs)
    .where(and(visibleTo(ctx, nodeBmcs), inArray(nodeBmcs.nodeId, nodeIds)))
  const known = new Set(found.map(({ nodeId }) => nodeId))
  return new Set(nodeIds.filter((id) => !known.has(id)))
}
