import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
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

const bootInterfaces = alias(nodeInterfaces, 'boot_interfaces')
const COLUMNS = {
  id: computeNodes.id,
  name: computeNodes.name,
  xname: computeNodes.xname,
  nid: computeNodes.nid,
  status: computeNodes.status,
  bootMac: bootInterfaces.mac,
}
// Not a parameter: Postgres then uses the partial index.
const hasBootInterface = and(eq(bootInterfaces.nodeId, computeNodes.id), sql`${bootInterfaces.isBoot}`)

/** The node of each identity, in their order; null: no node has it. MACs must be normalized. One statement per kind of identity. */
export async function findBootNodes(ctx: Ctx, identities: readonly BootIdentity[]): Promise<(BootNode | null)[]> {
  const keys = identities.map(keyOf)
  const of = (kind: string) => [...new Set(keys.flatMap((key) => (key?.kind === kind ? [key.value] : [])))]
  const [macs, names, nids] = [of('mac'), of('name'), of('nid')]
  const xnames = names.filter((name) => parseXname(name)).map(normalizeXname)
  const select = (condition: SQL) =>
    ctx.db
      .select(COLUMNS)
      .from(computeNodes)
      .leftJoin(bootInterfaces, hasBootInterface)
      .where(and(visibleTo(ctx, computeNodes), condition))
  const [byMac, byXname, byName, byNid] = await Promise.all([
    macs.length > 0 ? selectByMac(ctx, macs) : [],
    xnames.length > 0 ? select(isOneOf(computeNodes.xname, xnames, 'text')) : [],
    names.length > 0 ? select(isOneOf(computeNodes.name, names, 'text')) : [],
    nids.length > 0 ? select(inArray(computeNodes.nid, nids.map(Number))) : [],
  ])
  const found = new Map<string, BootNode>([
    ...byMac.map(({ mac, ...node }) => [`mac ${mac}`, node] as const),
    ...byXname.map((node) => [`xname ${node.xname}`, node] as const),
    ...byName.map((node) => [`name ${node.name}`, node] as const),
    ...byNid.map((node) => [`nid ${node.nid}`, node] as const),
  ])
  return keys.map((key) => {
    if (!key) return null
    // A name takes precedence over an equal xname.
    const xname = key.kind === 'name' && parseXname(key.value) ? found.get(`xname ${normalizeXname(key.value)}`) : undefined
    return found.get(`${key.kind} ${key.value}`) ?? xname ?? null
  })
}

const selectByMac = (ctx: Ctx, macs: string[]) =>
  ctx.db
    .select({ ...COLUMNS, mac: nodeInterfaces.mac })
    .from(nodeInterfaces)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeInterfaces.nodeId))
    .leftJoin(bootInterfaces, hasBootInterface)
    .where(and(visibleTo(ctx, nodeInterfaces), isOneOf(nodeInterfaces.mac, macs, 'text')))

/** Nodes by ID. */
export async function findBootNodesById(ctx: Ctx, ids: string[]): Promise<Map<string, BootNode>> {
  const rows = await ctx.db
    .select(COLUMNS)
    .from(computeNodes)
    .leftJoin(bootInterfaces, hasBootInterface)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids)))
  return new Map(rows.map((row) => [row.id, row]))
}

function keyOf({ mac, name, nid }: BootIdentity): { kind: 'mac' | 'name' | 'nid'; value: string } | null {
  if (mac) return { kind: 'mac', value: mac }
  if (name) return { kind: 'name', value: name }
  return nid === null || nid === undefined ? null : { kind: 'nid', value: String(nid) }
}
