import { and, eq, or, sql } from 'drizzle-orm'
import { directGroupIds, readGroupTree } from '../groups/index.ts'
import { nodeGroups } from '../groups/tables.ts'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/tables.ts'
import { type ProfileRef, type ProfileTree, type ResolvedBootProfile, readProfileTree, resolveBootProfiles } from './resolve.ts'
import { BOOT_ARCHES, BOOT_TARGETS, type BootArch, type BootTarget, bootAssignments } from './tables.ts'

/** An assignment that applies to a machine. */
export type BootCandidate = {
  assignmentId: string
  profile: ProfileRef
  target: BootTarget
  group: { id: string; name: string } | null
  priority: number
  /** Why another one wins; null for the winner. */
  lostReason: string | null
}

/** What a machine boots. Nodes with the same profile share its object. */
export type EffectiveBootProfile = {
  /** Null when nothing applies; see `reason`. */
  profile: ResolvedBootProfile | null
  /** The winner first, then in the order in which they would win. */
  candidates: BootCandidate[]
  /** Why the machine has no profile. */
  reason: string | null
}

type Row = Pick<BootCandidate, 'target' | 'group' | 'priority'> & {
  assignmentId: string
  profileId: string
  nodeId: string | null
}
type Reader = Pick<Ctx, 'db' | 'tenantId'>

/** Reads assignments and profiles in two statements. */
async function readAssignments(ctx: Reader, nodeIds: string[], targets: readonly BootTarget[]) {
  const a = bootAssignments
  const [found, tree] = await Promise.all([
    ctx.db
      .select({
        assignmentId: a.id,
        profileId: a.profileId,
        target: a.target,
        nodeId: a.nodeId,
        groupId: a.groupId,
        groupName: nodeGroups.name,
        priority: a.priority,
      })
      .from(a)
      .leftJoin(nodeGroups, eq(nodeGroups.id, a.groupId))
      .where(
        and(
          visibleTo(ctx, a),
          or(
            isOneOf(a.nodeId, nodeIds),
            isOneOf(
              a.target,
              targets.filter((target) => target !== 'NODE'),
              'text',
            ),
          ),
        ),
      ),
    readProfileTree(ctx.db, ctx),
  ])
  const rows = found.map(
    ({ groupId, groupName, ...row }): Row => ({
      ...row,
      group: groupId === null ? null : { id: groupId, name: groupName ?? groupId },
    }),
  )
  return { rows, tree }
}

const AT: Record<BootTarget, string> = {
  NODE: 'assigned to the node itself',
  GROUP: 'assigned to a group',
  ALL_NODES: 'assigned to all nodes',
  UNKNOWN_MACHINES: 'assigned to unknown machines',
}

/** Sorts the assignments of one machine: node, then groups, then all nodes; lower priority number; name of the profile, of the group. */
function rank(tree: ProfileTree, rows: Row[], arch: BootArch | null): BootCandidate[] {
  const candidates = rows.flatMap((row) => {
    const ref = tree.get(row.profileId)
    if (!ref) return []
    const { parentId: _, arch: own, ...profile } = ref
    return [{ row, profile, misfit: own !== null && arch !== null && own !== arch ? own : null }]
  })
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  candidates.sort(
    (a, b) =>
      Number(a.misfit !== null) - Number(b.misfit !== null) ||
      BOOT_TARGETS.indexOf(a.row.target) - BOOT_TARGETS.indexOf(b.row.target) ||
      a.row.priority - b.row.priority ||
      order(a.profile.name, b.profile.name) ||
      order(a.row.group?.name ?? '', b.row.group?.name ?? ''),
  )
  const [winner] = candidates
  return candidates.map(({ row: { profileId: _, nodeId: __, ...row }, profile, misfit }, i) => {
    const lost = () => {
      if (misfit) return `It is for ${misfit}; the machine is ${arch}.`
      if (i === 0) return null
      const { name } = winner!.profile
      if (winner!.row.target !== row.target) return `${name} is ${AT[winner!.row.target]}, which comes first.`
      if (winner!.row.priority !== row.priority)
        return `${name} has the priority ${winner!.row.priority}; the lower number wins over ${row.priority}.`
      return winner!.profile.id === profile.id
        ? `The same profile is assigned to the group ${winner!.row.group?.name}.`
        : `${name} has the same priority, ${row.priority}, and comes first by name.`
    }
    return { ...row, profile, lostReason: lost() }
  })
}

const isBootArch = (arch: string | null | undefined): arch is BootArch => BOOT_ARCHES.some((each) => each === arch)

/**
 * Returns what each of these nodes boots, with the assignments that lost and why, in five statements for any number of nodes.
 * Nodes of other tenants are absent. An assignment to the node wins over those to its groups, those over the assignment to all nodes;
 * then the lower priority number wins, then the name of the profile. A profile for another architecture loses.
 * @param arches architectures that the firmware of nodes reported; else the one of the last discovery
 */
export async function effectiveBootProfiles(
  ctx: Reader,
  nodeIds: string[],
  arches: ReadonlyMap<string, BootArch> = new Map(),
): Promise<Map<string, EffectiveBootProfile>> {
  const [{ rows, tree }, groups] = await Promise.all([
    readAssignments(ctx, nodeIds, ['NODE', 'GROUP', 'ALL_NODES']),
    readGroupTree(ctx.db, ctx),
  ])
  const hasGroups = rows.some(({ group }) => group !== null)
  const { id, name, arch, decommissionedAt } = computeNodes
  const nodes = await ctx.db
    .select({ id, name, arch, decommissionedAt, groupIds: hasGroups ? directGroupIds(groups, computeNodes) : sql<string>`''` })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
  const byNode = Map.groupBy(
    rows.filter((row) => row.nodeId !== null),
    (row) => row.nodeId!,
  )
  const byGroup = Map.groupBy(
    rows.filter((row) => row.group !== null),
    (row) => row.group!.id,
  )
  const ofAll = rows.filter(({ target }) => target === 'ALL_NODES')
  const ranked = nodes.map((node) => {
    if (node.decommissionedAt) return { node, candidates: [] }
    const known = arches.get(node.id) ?? (isBootArch(node.arch) ? node.arch : null)
    const applying = [
      ...(byNode.get(node.id) ?? []),
      ...groups.withAncestors(node.groupIds).flatMap((group) => byGroup.get(group.id) ?? []),
      ...ofAll,
    ]
    return { node, candidates: rank(tree, applying, known) }
  })
  const resolved = await resolveWinners(
    ctx,
    tree,
    ranked.map(({ candidates }) => candidates),
  )
  return new Map(
    ranked.map(({ node, candidates }) => [
      node.id,
      effectiveOf(resolved, candidates, () =>
        node.decommissionedAt
          ? `The node ${node.name} is decommissioned; recommission it first.`
          : `No boot profile is assigned to the node ${node.name}, its groups or all nodes.`,
      ),
    ]),
  )
}

/** Returns what a machine of this architecture boots when no node has its MAC. */
export async function unknownBootProfile(ctx: Reader, arch: BootArch | null): Promise<EffectiveBootProfile> {
  const { rows, tree } = await readAssignments(ctx, [], ['UNKNOWN_MACHINES'])
  const candidates = rank(tree, rows, arch)
  const resolved = await resolveWinners(ctx, tree, [candidates])
  return effectiveOf(resolved, candidates, () => 'No boot profile is assigned to unknown machines.')
}

const winnerOf = (candidates: BootCandidate[]) => candidates.find(({ lostReason }) => lostReason === null)

const resolveWinners = (ctx: Reader, tree: ProfileTree, lists: BootCandidate[][]) =>
  resolveBootProfiles(ctx, [...new Set(lists.flatMap((candidates) => winnerOf(candidates)?.profile.id ?? []))], tree)

function effectiveOf(
  resolved: Map<string, ResolvedBootProfile>,
  candidates: BootCandidate[],
  none: () => string,
): EffectiveBootProfile {
  const profile = resolved.get(winnerOf(candidates)?.profile.id ?? '') ?? null
  if (profile) return { profile, candidates, reason: null }
  const [misfit] = candidates
  return {
    profile: null,
    candidates,
    reason: misfit ? `No assigned boot profile fits: ${misfit.profile.name}: ${misfit.lostReason}` : none(),
  }
}
