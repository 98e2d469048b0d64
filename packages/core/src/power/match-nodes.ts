import { and, eq, or } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes, nodeBmcs, nodeInterfaces } from '../nodes/tables.ts'
import { isUsable, NODE_SERIAL, NODE_UUID, uuidForms } from './machine-identity.ts'
import type { BmcInventory } from './tables.ts'

type Found = { address: string; systemPath: string; inventory: BmcInventory | null }
export type BmcMatch = { nodeId: string | null; matchedBy: string | null; conflict: string | null }

/**
 * Finds the node of each system: by the address of its BMC, then by the MACs of its interfaces, its UUID, and its serial number. Systems
 * that match several nodes, or a node with another BMC, have a conflict for a person.
 */
export async function matchNodes(tx: Tx, ctx: Ctx, port: number, found: Found[]): Promise<BmcMatch[]> {
  if (found.length === 0) return []
  const macs = found.flatMap(({ inventory }) => inventory?.macs ?? [])
  const uuids = found.flatMap(({ inventory }) => (isUsable(inventory?.uuid) ? uuidForms(inventory.uuid) : []))
  const serials = found.flatMap(({ inventory }) => (isUsable(inventory?.serial) ? [inventory.serial] : []))
  const withMac = await tx
    .select({ id: nodeInterfaces.nodeId, key: nodeInterfaces.mac })
    .from(nodeInterfaces)
    .where(and(visibleTo(ctx, nodeInterfaces), isOneOf(nodeInterfaces.mac, macs, 'text')))
  const withDmi = await tx
    .select({ id: computeNodes.id, serial: NODE_SERIAL, uuid: NODE_UUID })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), or(isOneOf(NODE_SERIAL, serials, 'text'), isOneOf(NODE_UUID, uuids, 'text'))))
  const bmcs = await tx
    .select({
      nodeId: nodeBmcs.nodeId,
      address: nodeBmcs.address,
      port: nodeBmcs.port,
      systemPath: nodeBmcs.systemPath,
      name: computeNodes.name,
    })
    .from(nodeBmcs)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeBmcs.nodeId))
    .where(visibleTo(ctx, nodeBmcs))
  const names = new Map(
    (
      await tx
        .select({ id: computeNodes.id, name: computeNodes.name })
        .from(computeNodes)
        .where(
          and(
            visibleTo(ctx, computeNodes),
            isOneOf(computeNodes.id, [...withMac.map(({ id }) => id), ...withDmi.map(({ id }) => id)]),
          ),
        )
    ).map(({ id, name }) => [id, name]),
  )
  const nameOf = (id: string) => names.get(id) ?? bmcs.find(({ nodeId }) => nodeId === id)?.name ?? id
  return found.map(({ address, systemPath, inventory }): BmcMatch => {
    const own = bmcs.find((bmc) => bmc.address === address && bmc.port === port && bmc.systemPath === systemPath)
    const ids = {
      MAC: withMac.filter(({ key }) => inventory?.macs.includes(key)).map(({ id }) => id),
      UUID: isUsable(inventory?.uuid)
        ? withDmi.filter((node) => node.uuid !== null && uuidForms(inventory.uuid!).includes(node.uuid)).map(({ id }) => id)
        : [],
      serial: isUsable(inventory?.serial) ? withDmi.filter((node) => node.serial === inventory.serial).map(({ id }) => id) : [],
    }
    const all = [...new Set([...(own ? [own.nodeId] : []), ...ids.MAC, ...ids.UUID, ...ids.serial])]
    const [first] = all
    if (first === undefined) return { nodeId: null, matchedBy: null, conflict: null }
    if (all.length > 1) {
      const evidence = Object.entries(ids)
        .filter(([, list]) => list.length > 0)
        .map(([kind, list]) => `${kind}: ${[...new Set(list)].map(nameOf).join(', ')}`)
      const text = [...(own ? [`address: ${own.name}`] : []), ...evidence].join('; ')
      return { nodeId: null, matchedBy: null, conflict: `Several nodes match (${text}). Choose one.` }
    }
    const matchedBy = [
      ...(own ? ['address'] : []),
      ...Object.entries(ids).flatMap(([kind, list]) => (list.length > 0 ? [kind] : [])),
    ]
    const other = own ? undefined : bmcs.find(({ nodeId }) => nodeId === first)
    return {
      nodeId: first,
      matchedBy: matchedBy.join(', '),
      conflict: other ? `The node ${nameOf(first)} has the BMC ${other.address}. Change it there if it was replaced.` : null,
    }
  })
}
