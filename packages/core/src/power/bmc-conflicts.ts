import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { parseMac } from '../nodes/network/index.ts'
import { computeNodes, nodeBmcs, nodeInterfaces } from '../nodes/tables.ts'
import { isUsable, NODE_SERIAL, NODE_UUID, uuidForms } from './machine-identity.ts'
import { type BmcInventory, bmcReadings } from './tables.ts'

const SHOWN_MACS = 4
const listed = (macs: readonly string[]) =>
  `${macs.slice(0, SHOWN_MACS).join(', ')}${macs.length > SHOWN_MACS ? ` and ${macs.length - SHOWN_MACS} more` : ''}`

/** What is known of a machine without its BMC. Null or empty: not known. */
export type KnownMachine = { serial: string | null; uuid: string | null; macs: readonly string[] }
type Reported = Pick<BmcInventory, 'serial' | 'uuid' | 'macs'>

/**
 * Serial number, UUID and MACs that a BMC reports for another machine than the node's. A BMC lists few of the MACs of its machine, so one
 * in common is enough.
 */
export function identityConflicts({ serial, uuid, macs }: Reported, known: KnownMachine): string[] {
  const found: string[] = []
  if (isUsable(serial) && isUsable(known.serial) && serial.trim().toLowerCase() !== known.serial.trim().toLowerCase())
    found.push(`The BMC reports the serial number ${serial}; discovery found ${known.serial} on the node.`)
  if (isUsable(uuid) && isUsable(known.uuid) && !uuidForms(uuid).includes(known.uuid.toLowerCase()))
    found.push(`The BMC reports the UUID ${uuid}; discovery found ${known.uuid} on the node.`)
  // A BMC reports no InfiniBand addresses.
  const own = known.macs.filter((mac) => parseMac(mac))
  if (macs.length > 0 && own.length > 0 && !macs.some((mac) => own.includes(mac)))
    found.push(`The BMC reports the MACs ${listed(macs)}; the node has ${listed(own)}.`)
  return found
}

/**
 * Why the BMCs of nodes seem to belong to other machines, by node ID; nodes without a conflict are missing. Compares what was last read
 * from them with the last discovery and the interfaces of all nodes. It changes nothing: an administrator decides.
 */
export async function bmcConflicts(ctx: Ctx, nodeIds: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await ctx.db
    .select({
      id: computeNodes.id,
      ...{ inventory: bmcReadings.inventory, serial: NODE_SERIAL, uuid: NODE_UUID },
      discovered: sql<string[] | null>`jsonb_path_query_array(${computeNodes.facts}, '$.nics[*].mac')`,
    })
    .from(nodeBmcs)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeBmcs.nodeId))
    .innerJoin(bmcReadings, eq(bmcReadings.bmcId, nodeBmcs.id))
    .where(and(visibleTo(ctx, nodeBmcs), isOneOf(nodeBmcs.nodeId, [...nodeIds]), isNotNull(bmcReadings.inventory)))
  if (rows.length === 0) return new Map()
  const inventories = rows.map(({ inventory }) => inventory!)
  const reported = {
    macs: inventories.flatMap(({ macs }) => macs),
    serials: inventories.flatMap(({ serial }) => (isUsable(serial) ? [serial] : [])),
    uuids: inventories.flatMap(({ uuid }) => (isUsable(uuid) ? uuidForms(uuid) : [])),
  }
  const interfaces = await ctx.db
    .select({
      ...{ nodeId: nodeInterfaces.nodeId, mac: nodeInterfaces.mac, name: computeNodes.name },
      decommissionedAt: computeNodes.decommissionedAt,
    })
    .from(nodeInterfaces)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeInterfaces.nodeId))
    .where(
      and(
        visibleTo(ctx, nodeInterfaces),
        or(isOneOf(nodeInterfaces.nodeId, [...nodeIds]), isOneOf(nodeInterfaces.mac, reported.macs, 'text')),
      ),
    )
  const named = await ctx.db
    .select({ id: computeNodes.id, name: computeNodes.name, serial: NODE_SERIAL, uuid: NODE_UUID })
    .from(computeNodes)
    .where(
      and(
        visibleTo(ctx, computeNodes),
        isNull(computeNodes.decommissionedAt),
        or(isOneOf(NODE_SERIAL, reported.serials, 'text'), isOneOf(NODE_UUID, reported.uuids, 'text')),
      ),
    )
  return new Map(
    rows.flatMap(({ id, inventory, serial, uuid, discovered }): [string, string[]][] => {
      const { macs, ...reports } = inventory!
      const entered = interfaces.filter(({ nodeId }) => nodeId === id).map(({ mac }) => mac)
      const own = [...new Set([...entered, ...(discovered ?? []).flatMap((mac) => mac?.toLowerCase() ?? [])])]
      const others = [
        ...interfaces
          // The parts of a decommissioned machine can be in another one now.
          .filter(({ nodeId, mac, decommissionedAt }) => nodeId !== id && !decommissionedAt && macs.includes(mac))
          .map(({ name, mac }) => `The BMC reports the MAC ${mac}, which is an interface of the node ${name}.`),
        ...named
          .filter((node) => node.id !== id && isUsable(reports.serial) && node.serial === reports.serial)
          .map(({ name }) => `The BMC reports the serial number ${reports.serial}, which discovery found on the node ${name}.`),
        ...named
          .filter((node) => node.id !== id && isUsable(reports.uuid) && node.uuid && uuidForms(reports.uuid).includes(node.uuid))
          .map(({ name }) => `The BMC reports the UUID ${reports.uuid}, which discovery found on the node ${name}.`),
      ]
      const found = [...identityConflicts(inventory!, { serial, uuid, macs: own }), ...others]
      return found.length > 0 ? [[id, found]] : []
    }),
  )
}
