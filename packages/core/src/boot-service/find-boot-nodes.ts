import { and, eq, inArray } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { normalizeXname, parseXname } from '../nodes/index.ts'
import { computeNodes, type NodeStatus, nodeInterfaces } from '../nodes/tables.ts'

/** How a machine names itself. The first given field decides: MAC, then name or xname, then NID. */
export type BootIdentity = { mac?: string | null; name?: string | null; nid?: number | null }
/** A node of the inventory, as the boot service needs it. `bootMac` is null when no interface is marked for booting. */
export type BootNode = {
  id: string
  name: string
  xname: string | null
  nid: number | null
  status: NodeStatus
  bootMac: string | null
}

const COLUMNS = {
  id: computeNodes.id,
  name: computeNodes.name,
  xname: computeNodes.xname,
  nid: computeNodes.nid,
  status: computeNodes.status,
}

/** The node of each identity, in their order; null: no node has it. MACs must be normalized. At most four statements. */
export async function findBootNodes(ctx: Ctx, identities: readonly BootIdentity[]): Promise<(BootNode | null)[]> {
  const keys = identities.map(keyOf)
  const of = (kind: string) => [...new Set(keys.flatMap((key) => (key?.kind === kind ? [key.value] : [])))]
  const [macs, names, nids] = [of('mac'), of('name'), of('nid')]
  const xnames = names.filter((name) => parseXname(name)).map(normalizeXname)
  const found = new Map<string, Omit<BootNode, 'bootMac'>>()
  if (macs.length > 0)
    for (const { mac, ...node } of await ctx.db
      .select({ ...COLUMNS, mac: nodeInterfaces.mac })
      .from(nodeInterfaces)
      .innerJoin(computeNodes, eq(computeNodes.id, nodeInterfaces.nodeId))
      .where(and(visibleTo(ctx, nodeInterfaces), isOneOf(nodeInterfaces.mac, macs, 'text'))))
      found.set(`mac ${mac}`, node)
  const select = (column: 'name' | 'xname', values: string[]) =>
    ctx.db
      .select(COLUMNS)
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes[column], values, 'text')))
  // A name takes precedence over an equal xname.
  if (xnames.length > 0) for (const node of await select('xname', xnames)) found.set(`xname ${node.xname}`, node)
  if (names.length > 0) for (const node of await select('name', names)) found.set(`name ${node.name}`, node)
  if (nids.length > 0)
    for (const node of await ctx.db
      .select(COLUMNS)
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), inArray(computeNodes.nid, nids.map(Number)))))
      found.set(`nid ${node.nid}`, node)
  const bootMacs = await readBootMacs(ctx, [...new Set([...found.values()].map(({ id }) => id))])
  return keys.map((key) => {
    if (!key) return null
    const xname = key.kind === 'name' && parseXname(key.value) ? found.get(`xname ${normalizeXname(key.value)}`) : undefined
    const node = found.get(`${key.kind} ${key.value}`) ?? xname
    return node ? { ...node, bootMac: bootMacs.get(node.id) ?? null } : null
  })
}

/** Nodes by ID. */
export async function findBootNodesById(ctx: Ctx, ids: string[]): Promise<Map<string, BootNode>> {
  const [rows, bootMacs] = await Promise.all([
    ctx.db
      .select(COLUMNS)
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids))),
    readBootMacs(ctx, ids),
  ])
  return new Map(rows.map((row) => [row.id, { ...row, bootMac: bootMacs.get(row.id) ?? null }]))
}

/** The MACs of the boot interfaces of nodes. */
async function readBootMacs(ctx: Ctx, nodeIds: string[]): Promise<Map<string, string>> {
  if (nodeIds.length === 0) return new Map()
  const rows = await ctx.db
    .select({ nodeId: nodeInterfaces.nodeId, mac: nodeInterfaces.mac })
    .from(nodeInterfaces)
    .where(and(visibleTo(ctx, nodeInterfaces), isOneOf(nodeInterfaces.nodeId, nodeIds), eq(nodeInterfaces.isBoot, true)))
  return new Map(rows.map(({ nodeId, mac }) => [nodeId, mac]))
}

function keyOf({ mac, name, nid }: BootIdentity): { kind: 'mac' | 'name' | 'nid'; value: string } | null {
  if (mac) return { kind: 'mac', value: mac }
  if (name) return { kind: 'name', value: name }
  return nid === null || nid === undefined ? null : { kind: 'nid', value: String(nid) }
}
