import { and, asc, eq } from 'drizzle-orm'
import { effectiveBootProfiles } from '../boot-profiles/index.ts'
import { factVariables } from '../discoveries/index.ts'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes, nodeBmcs, nodeInterfaces } from '../nodes/tables.ts'
import type { NODE_VARIABLES } from './names.ts'

type NodeVariables = Partial<Record<(typeof NODE_VARIABLES)[number], unknown>>

/**
 * Variables that describe each node to Ansible: its accelerators (see `factVariables`), location, identity, network and BMC, and the
 * name of the boot profile that applies. What is not known is absent. Takes the same number of statements for any number of nodes.
 */
export async function hostVariables(
  ctx: Pick<Ctx, 'db' | 'tenantId'>,
  nodeIds: string[],
): Promise<Map<string, Record<string, unknown>>> {
  const [facts, nodes, interfaces, profiles] = await Promise.all([
    factVariables(ctx, nodeIds),
    readNodes(ctx, nodeIds),
    readInterfaces(ctx, nodeIds),
    effectiveBootProfiles(ctx, nodeIds),
  ])
  return new Map(
    nodes.map(({ id, ...node }) => {
      const own = interfaces.get(id) ?? []
      const [profile] = profiles.get(id)?.candidates ?? []
      const variables: NodeVariables = {
        muster_xname: node.xname,
        muster_nid: node.nid,
        muster_rack: node.rack,
        muster_rack_position: node.rackPosition,
        muster_arch: node.arch,
        muster_management_ip: node.managementIp,
        muster_boot_mac: own.find(({ boot }) => boot)?.mac,
        muster_interfaces: own.length > 0 ? own : null,
        muster_bmc_address: node.bmcAddress,
        // The winner is the first, but nothing applies when it lost, too.
        muster_boot_profile: profile?.lostReason === null ? profile.profile.name : null,
      }
      const known = Object.entries(variables).filter(([, value]) => value !== null && value !== undefined)
      return [id, { ...facts.get(id), ...Object.fromEntries(known) }]
    }),
  )
}

const readNodes = ({ db, ...ctx }: Pick<Ctx, 'db' | 'tenantId'>, nodeIds: string[]) =>
  db
    .select({
      id: computeNodes.id,
      xname: computeNodes.xname,
      nid: computeNodes.nid,
      rack: computeNodes.rack,
      rackPosition: computeNodes.rackPosition,
      arch: computeNodes.arch,
      managementIp: computeNodes.managementIp,
      bmcAddress: nodeBmcs.address,
    })
    .from(computeNodes)
    .leftJoin(nodeBmcs, eq(nodeBmcs.nodeId, computeNodes.id))
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))

async function readInterfaces({ db, ...ctx }: Pick<Ctx, 'db' | 'tenantId'>, nodeIds: string[]) {
  const rows = await db
    .select()
    .from(nodeInterfaces)
    .where(and(visibleTo(ctx, nodeInterfaces), isOneOf(nodeInterfaces.nodeId, nodeIds)))
    .orderBy(asc(nodeInterfaces.nodeId), asc(nodeInterfaces.position))
  const byNode = Map.groupBy(rows, ({ nodeId }) => nodeId)
  return new Map(
    [...byNode].map(([id, own]) => [id, own.map(({ name, mac, isBoot, addresses }) => ({ name, mac, boot: isBoot, addresses }))]),
  )
}
