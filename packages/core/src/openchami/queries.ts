import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { groupsOfNodes } from '../groups/index.ts'
import { type NodeGroup, nodeGroups } from '../groups/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import {
  computeNodes,
  LEAN_NODE,
  type LeanNode,
  type NodeBmc,
  type NodeInterface,
  nodeBmcs,
  nodeInterfaces,
} from '../nodes/tables.ts'

type Db = Ctx['db'] | Tx

/** A node that has an xname, which identifies it in OpenCHAMI. */
export type Component = LeanNode & { xname: string; interfaces: NodeInterface[]; bmc: NodeBmc | null }

/** Condition of the nodes that are components. */
export const isComponent = (ctx: Pick<Ctx, 'tenantId'>) =>
  and(visibleTo(ctx, computeNodes), isNotNull(computeNodes.xname), isNull(computeNodes.decommissionedAt))

/** All components, by xname. */
export async function readComponents(ctx: Ctx): Promise<Component[]> {
  const nodes = await ctx.db.select(LEAN_NODE).from(computeNodes).where(isComponent(ctx)).orderBy(computeNodes.xname)
  const interfaces = await ctx.db
    .select()
    .from(nodeInterfaces)
    .where(visibleTo(ctx, nodeInterfaces))
    .orderBy(nodeInterfaces.position, nodeInterfaces.mac)
  const ofNode = Map.groupBy(interfaces, ({ nodeId }) => nodeId)
  const bmcs = await ctx.db.select().from(nodeBmcs).where(visibleTo(ctx, nodeBmcs))
  const bmcOf = new Map(bmcs.map((bmc) => [bmc.nodeId, bmc]))
  return nodes.map((node) => ({
    ...node,
    xname: node.xname!,
    interfaces: ofNode.get(node.id) ?? [],
    bmc: bmcOf.get(node.id) ?? null,
  }))
}

/** A group with the xnames of its members, also those by query and of groups below it. */
export type ComponentGroup = { group: NodeGroup; label: string; xnames: string[] }

/** All groups, by label. */
export async function readComponentGroups(ctx: Ctx, db: Db = ctx.db): Promise<ComponentGroup[]> {
  const groups = await db.select().from(nodeGroups).where(visibleTo(ctx, nodeGroups))
  const nodes = await db
    .select({ id: computeNodes.id, xname: computeNodes.xname })
    .from(computeNodes)
    .where(isComponent(ctx))
    .orderBy(computeNodes.xname)
  const groupsOf = await groupsOfNodes(
    db,
    ctx,
    nodes.map(({ id }) => id),
  )
  const members = new Map<string, string[]>(groups.map(({ id }) => [id, []]))
  for (const { id, xname } of nodes) for (const group of groupsOf.get(id)!) members.get(group.id)?.push(xname!)
  return groups
    .map((group) => ({ group, label: labelOf(group), xnames: members.get(group.id)! }))
    .sort((a, b) => (a.label < b.label ? -1 : 1))
}

/** A name of a group for a label of OpenCHAMI, which may contain characters that Ansible's groups cannot. */
export const groupName = (label: string): string => label.replace(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d)/, '_')

/** The label of a group: the one it was created with, or its name. */
export const labelOf = ({ name, displayName }: Pick<NodeGroup, 'name' | 'displayName'>): string =>
  displayName !== null && groupName(displayName) === name ? displayName : name

/** Condition of one group. */
export const isGroupNamed = (ctx: Pick<Ctx, 'tenantId'>, label: string) =>
  and(visibleTo(ctx, nodeGroups), eq(nodeGroups.name, groupName(label)))
