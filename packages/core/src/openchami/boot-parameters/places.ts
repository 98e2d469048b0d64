import { and, eq, inArray, isNull, or, type SQL } from 'drizzle-orm'
import { BOOT_ARCHES, type BootArch, BootArchInput, type BootTarget, bootAssignments } from '../../boot-profiles/index.ts'
import { nodeGroups } from '../../groups/tables.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput, NotFound } from '../../kernel/errors.ts'
import { normalizeXname, parseXname } from '../../nodes/network/index.ts'
import { computeNodes, nodeInterfaces } from '../../nodes/tables.ts'
import { groupName, labelOf } from '../queries.ts'

type Db = Ctx['db'] | Tx

/** BSS's names for more than one node. Global: parameters and data that are added for all nodes. */
export const DEFAULT = 'Default'
export const GLOBAL = 'Global'
const UNKNOWN = 'Unknown-'
/** Architectures in the names of BSS, which are those of iPXE. */
const ARCH_NAMES: Record<BootArch, string> = { x86_64: 'x86_64', aarch64: 'arm64' }
export const unknownHosts = (arch: BootArch | null): string[] =>
  (arch ? [arch] : BOOT_ARCHES).map((each) => `${UNKNOWN}${ARCH_NAMES[each]}`)

/** Target of boot parameters. `host`: its name in the request. */
export type Place = {
  host: string
  target: BootTarget
  nodeId: string | null
  groupId: string | null
  /** Of unknown machines. */
  arch: BootArch | null
}
export type Named = { hosts: string[]; macs: string[]; nids: number[] }

/** Whether an assignment is at a place. The architecture of a profile decides for unknown machines. */
export const isAt = (
  place: Place,
  assignment: { target: BootTarget; nodeId: string | null; groupId: string | null },
  profile: { arch: BootArch | null; hasKernel: boolean },
): boolean =>
  place.target === assignment.target &&
  place.nodeId === assignment.nodeId &&
  place.groupId === assignment.groupId &&
  (place.target !== 'UNKNOWN_MACHINES' || profile.arch === null || profile.arch === place.arch) &&
  (place.target !== 'ALL_NODES' || profile.hasKernel === (place.host === DEFAULT))

/** Condition on assignments: they can be at one of the places; see `isAt`. */
export const nearPlaces = (places: readonly Place[]): SQL =>
  or(
    inArray(
      bootAssignments.target,
      places.map(({ target }) => target).filter((target) => target === 'ALL_NODES' || target === 'UNKNOWN_MACHINES'),
    ),
    isOneOf(
      bootAssignments.nodeId,
      places.flatMap(({ nodeId }) => nodeId ?? []),
    ),
    isOneOf(
      bootAssignments.groupId,
      places.flatMap(({ groupId }) => groupId ?? []),
    ),
  )!

/** The places that a request names. @throws NotFound a host, MAC or NID; InvalidInput an architecture */
export async function findPlaces(db: Db, ctx: Ctx, { hosts, macs, nids }: Named): Promise<Place[]> {
  const fixed = hosts.flatMap((host): Place[] => {
    const whole = { host, nodeId: null, groupId: null }
    if (host === DEFAULT || host === GLOBAL) return [{ ...whole, target: 'ALL_NODES', arch: null }]
    if (!host.startsWith(UNKNOWN)) return []
    const arch = BootArchInput.safeParse(host.slice(UNKNOWN.length))
    if (!arch.success) throw new InvalidInput([{ path: 'hosts', message: `${host}: use ${unknownHosts(null).join(' or ')}` }])
    return [{ ...whole, target: 'UNKNOWN_MACHINES', arch: arch.data }]
  })
  const names = hosts.filter((host) => !fixed.some((place) => place.host === host))
  const nodes = await findNodes(db, ctx, { names, macs, nids })
  const missing = names.filter((name) => !nodes.has(`name ${name}`))
  const groups = await findGroups(db, ctx, missing)
  const ofNode = (key: string, host: string): Place => {
    const nodeId = nodes.get(key)
    if (nodeId) return { host, target: 'NODE', nodeId, groupId: null, arch: null }
    const groupId = key.startsWith('name ') ? groups.get(host) : undefined
    if (groupId) return { host, target: 'GROUP', nodeId: null, groupId, arch: null }
    throw new NotFound(
      key.startsWith('name ')
        ? `There is no node with the xname or name ${host}, and no group ${host}. Add the component first.`
        : `No node has the ${key.startsWith('mac ') ? 'MAC' : 'NID'} ${host}. Add the component first, or set ${unknownHosts(null).join(' or ')}.`,
    )
  }
  return [
    ...fixed,
    ...names.map((name) => ofNode(`name ${name}`, name)),
    ...macs.map((mac) => ofNode(`mac ${mac}`, mac)),
    ...nids.map((nid) => ofNode(`nid ${nid}`, String(nid))),
  ]
}

/** Removes places to which another name also refers. */
export function distinctPlaces(places: Place[]): Place[] {
  const keyOf = ({ target, nodeId, groupId, arch, host }: Place) =>
    [target, nodeId, groupId, arch, target === 'ALL_NODES' ? host : ''].join(' ')
  return [...new Map(places.map((place) => [keyOf(place), place])).values()]
}

/** IDs of nodes that are not decommissioned, by `name …`, `mac …` and `nid …`. A name takes precedence over an equal xname. */
async function findNodes(db: Db, ctx: Ctx, { names, macs, nids }: { names: string[]; macs: string[]; nids: number[] }) {
  const found = new Map<string, string>()
  const isActive = and(visibleTo(ctx, computeNodes), isNull(computeNodes.decommissionedAt))
  const { id, name, xname, nid } = computeNodes
  const xnames = new Map(names.flatMap((each) => (parseXname(each) ? [[normalizeXname(each), each] as const] : [])))
  if (xnames.size > 0) {
    const isNamed = isOneOf(xname, [...xnames.keys()], 'text')
    for (const row of await db.select({ id, xname }).from(computeNodes).where(and(isActive, isNamed)))
      found.set(`name ${xnames.get(row.xname!)}`, row.id)
  }
  if (names.length > 0)
    for (const row of await db
      .select({ id, name })
      .from(computeNodes)
      .where(and(isActive, isOneOf(name, names, 'text'))))
      found.set(`name ${row.name}`, row.id)
  if (macs.length > 0)
    for (const row of await db
      .select({ id, mac: nodeInterfaces.mac })
      .from(nodeInterfaces)
      .innerJoin(computeNodes, eq(id, nodeInterfaces.nodeId))
      .where(and(isActive, isOneOf(nodeInterfaces.mac, macs, 'text'))))
      found.set(`mac ${row.mac}`, row.id)
  if (nids.length > 0)
    for (const row of await db
      .select({ id, nid })
      .from(computeNodes)
      .where(and(isActive, inArray(nid, nids))))
      found.set(`nid ${row.nid}`, row.id)
  return found
}

/** IDs of groups by the given labels. */
async function findGroups(db: Db, ctx: Ctx, labels: string[]): Promise<Map<string, string>> {
  if (labels.length === 0) return new Map()
  const rows = await db
    .select({ id: nodeGroups.id, name: nodeGroups.name, displayName: nodeGroups.displayName })
    .from(nodeGroups)
    .where(and(visibleTo(ctx, nodeGroups), isOneOf(nodeGroups.name, labels.map(groupName), 'text')))
  return new Map(
    labels.flatMap((label) => {
      const group = rows.find((row) => row.name === label || labelOf(row) === label)
      return group ? [[label, group.id] as const] : []
    }),
  )
}
