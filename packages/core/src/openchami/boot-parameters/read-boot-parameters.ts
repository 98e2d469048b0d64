import { and, eq, isNull, or } from 'drizzle-orm'
import { type BootTarget, bootAssignments, type ResolvedBootProfile, resolveBootProfiles } from '../../boot-profiles/index.ts'
import { nodeGroups } from '../../groups/tables.ts'
import type { Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { computeNodes, nodeInterfaces } from '../../nodes/tables.ts'
import { labelOf } from '../queries.ts'
import { fromCloudConfig } from './format.ts'
import { DEFAULT, findPlaces, GLOBAL, isAt, type Named, nearPlaces, unknownHosts } from './places.ts'

/** An entry of BSS: here, a boot profile and the hosts to which it is assigned. */
export type BootParameters = Named & {
  params: string
  kernel: string
  initrd: string
  userData: Record<string, unknown> | null
}

/**
 * Assigned boot profiles, with the values that they inherit. A node is named by its xname, else by its boot MAC, else by its name.
 * @param filter only assignments to these, named in the same way
 * @throws NotFound a host, MAC or NID does not exist; InvalidInput
 */
export async function readBootParameters(ctx: Ctx, filter?: Named): Promise<BootParameters[]> {
  const places = filter ? await findPlaces(ctx.db, ctx, filter) : null
  const rows = await ctx.db
    .select({
      profileId: bootAssignments.profileId,
      target: bootAssignments.target,
      nodeId: bootAssignments.nodeId,
      groupId: bootAssignments.groupId,
      node: { name: computeNodes.name, xname: computeNodes.xname, mac: nodeInterfaces.mac },
      group: { name: nodeGroups.name, displayName: nodeGroups.displayName },
    })
    .from(bootAssignments)
    .leftJoin(computeNodes, eq(computeNodes.id, bootAssignments.nodeId))
    .leftJoin(nodeInterfaces, and(eq(nodeInterfaces.nodeId, computeNodes.id), eq(nodeInterfaces.isBoot, true)))
    .leftJoin(nodeGroups, eq(nodeGroups.id, bootAssignments.groupId))
    .where(
      and(
        visibleTo(ctx, bootAssignments),
        or(isNull(bootAssignments.nodeId), isNull(computeNodes.decommissionedAt)),
        places ? nearPlaces(places) : undefined,
      ),
    )
    .orderBy(computeNodes.name, nodeGroups.name)
  const resolved = await resolveBootProfiles(ctx, [...new Set(rows.map(({ profileId }) => profileId))])
  const entries = [...Map.groupBy(rows, ({ profileId }) => profileId)].flatMap(([id, assigned]): BootParameters[] => {
    const profile = resolved.get(id)
    if (!profile) return []
    const facts = { arch: profile.arch?.value ?? null, hasKernel: profile.kernel !== null }
    const named = places
      ? namedBy(
          places.filter((place) => assigned.some((row) => isAt(place, row, facts))),
          filter!,
        )
      : namesOf(assigned, facts)
    return named.hosts.length + named.macs.length + named.nids.length > 0 ? [{ ...named, ...valuesOf(profile) }] : []
  })
  return entries.sort((a, b) => order(a.kernel, b.kernel) || order(a.params, b.params) || order(String(a.hosts), String(b.hosts)))
}
const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** The places as the filter names them. */
const namedBy = (places: { host: string }[], { hosts, macs, nids }: Named): Named => {
  const found = new Set(places.map(({ host }) => host))
  return {
    hosts: hosts.filter((host) => found.has(host)),
    macs: macs.filter((mac) => found.has(mac)),
    nids: nids.filter((nid) => found.has(String(nid))),
  }
}

type Row = {
  target: BootTarget
  /** Its fields are null for other targets than a node. */
  node: { name: string | null; xname: string | null; mac: string | null }
  group: { name: string; displayName: string | null } | null
}
function namesOf(rows: Row[], { arch, hasKernel }: { arch: Parameters<typeof unknownHosts>[0]; hasKernel: boolean }): Named {
  const hosts = rows.flatMap(({ target, node, group }) => {
    if (target === 'ALL_NODES') return [hasKernel ? DEFAULT : GLOBAL]
    if (target === 'UNKNOWN_MACHINES') return unknownHosts(arch)
    if (group) return [labelOf(group)]
    return node.xname ? [node.xname] : node.mac ? [] : [node.name!]
  })
  return { hosts, macs: rows.flatMap(({ node }) => (node.mac && !node.xname ? [node.mac] : [])), nids: [] }
}

const valuesOf = ({ kernel, initrds, kernelParams, rootImage, userData }: ResolvedBootProfile) => ({
  kernel: kernel?.value.url ?? '',
  initrd: initrds?.value[0]?.url ?? '',
  params: [
    ...kernelParams.map(({ value }) => value),
    ...(rootImage && !kernelParams.some(({ value }) => value.startsWith('root=')) ? [`root=live:${rootImage.value.url}`] : []),
  ].join(' '),
  userData: userData.length === 1 ? fromCloudConfig(userData[0]!.value) : null,
})
