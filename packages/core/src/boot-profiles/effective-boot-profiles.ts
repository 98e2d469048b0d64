import { and, eq, or, sql } from 'drizzle-orm'
import { directGroupIds, readGroupTree } from '../groups/index.ts'
import { nodeGroups } from '../groups/tables.ts'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/tables.ts'
import {
  type Merge,
  type ProfileRef,
  type ProfileTree,
  type ResolvedBootProfile,
  type ResolvedProfileCache,
  readProfileTree,
  resolveMerges,
} from './resolve.ts'
import { BOOT_ARCHES, BOOT_TARGETS, type BootArch, type BootTarget, bootAssignments } from './tables.ts'

/** An assignment that applies to a machine. */
export type BootCandidate = {
  assignmentId: string
  profile: ProfileRef
  target: BootTarget
  group: { id: string; name: string } | null
  priority: number
  /** The profile has no kernel and is added to the winner. */
  isAddition: boolean
  /** Why the profile is not used; null for the winner and for additions. */
  lostReason: string | null
}

/** What a machine boots. Nodes with the same profile and additions share its object. */
export type EffectiveBootProfile = {
  /** With the additions. Null when nothing applies; see `reason`. */
  profile: ResolvedBootProfile | null
  /** The winner first, then additions, then the others in the order in which they would win. */
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

/** Additions of one machine. Each adds up to four texts of 64 KiB. */
export const MAX_ADDITIONS = 20

type Ranked = { candidates: BootCandidate[]; merge: Merge | null }

/**
 * Sorts the assignments of one machine: node, then groups, then all nodes; lower priority number; name of the profile, of the group. The
 * first profile with a kernel wins, and those without one are added. Without any kernel, the first is the one to which the others are added.
 */
function rank(tree: ProfileTree, rows: Row[], arch: BootArch | null): Ranked {
  const found = rows.flatMap((row) => {
    const ref = tree.get(row.profileId)
    if (!ref) return []
    const { parentId: _, arch: own, hasKernel, ...profile } = ref
    return [{ row, profile, hasKernel, misfit: own !== null && arch !== null && own !== arch ? own : null }]
  })
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  found.sort(
    (a, b) =>
      Number(a.misfit !== null) - Number(b.misfit !== null) ||
      BOOT_TARGETS.indexOf(a.row.target) - BOOT_TARGETS.indexOf(b.row.target) ||
      a.row.priority - b.row.priority ||
      order(a.profile.name, b.profile.name) ||
      order(a.row.group?.name ?? '', b.row.group?.name ?? ''),
  )
  type Found = (typeof found)[number]
  const fitting = found.filter(({ misfit }) => misfit === null)
  const winner = fitting.find(({ hasKernel }) => hasKernel) ?? fitting[0]
  const nearest = new Map<string, Found>()
  for (const each of fitting) if (!nearest.has(each.profile.id)) nearest.set(each.profile.id, each)
  const additions = fitting
    .filter((each) => each !== winner && !each.hasKernel && nearest.get(each.profile.id) === each)
    .slice(0, MAX_ADDITIONS)
  const isMerged = (each: Found) => each === winner || additions.includes(each)
  const lost = (each: Found): string | null => {
    if (each.misfit) return `It is for ${each.misfit}; the machine is ${arch}.`
    if (isMerged(each)) return null
    if (!each.hasKernel && nearest.get(each.profile.id) === each) return `At most ${MAX_ADDITIONS} profiles are added.`
    const { row, profile } = each.hasKernel ? winner! : nearest.get(each.profile.id)!
    if (profile.id === each.profile.id && row.target === each.row.target)
      return `The same profile is assigned to the group ${row.group?.name}.`
    if (row.target !== each.row.target) return `${profile.name} is ${AT[row.target]}, which comes first.`
    if (row.priority !== each.row.priority)
      return `${profile.name} has the priority ${row.priority}; the lower number wins over ${each.row.priority}.`
    return `${profile.name} has the same priority, ${each.row.priority}, and comes first by name.`
  }
  const merged = fitting.filter(isMerged)
  return {
    candidates: [...(winner ? [winner] : []), ...additions, ...found.filter((each) => !isMerged(each))].map((each) => {
      const { profileId: _, nodeId: __, ...row } = each.row
      return { ...row, profile: each.profile, isAddition: each !== winner && isMerged(each), lostReason: lost(each) }
    }),
    merge: winner ? { profileId: winner.profile.id, layers: merged.map(({ profile }) => profile.id).reverse() } : null,
  }
}

const isBootArch = (arch: string | null | undefined): arch is BootArch => BOOT_ARCHES.some((each) => each === arch)

/**
 * Returns what each of these nodes boots, with the assignments that lost and why, in at most five statements for any number of nodes.
 * Nodes of other tenants are absent. An assignment to the node wins over those to its groups, those over the assignment to all nodes;
 * then the lower priority number wins, then the name of the profile. A profile for another architecture loses. Profiles without a kernel
 * are merged with the winner in the same order: those of all nodes first, so that those of the node itself take precedence.
 * @param arches architectures that the firmware of nodes reported; else the one of the last discovery
 * @param cache of profiles, for callers outside of transactions
 */
export async function effectiveBootProfiles(
  ctx: Reader,
  nodeIds: string[],
  arches: ReadonlyMap<string, BootArch> = new Map(),
  cache?: ResolvedProfileCache,
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
    if (node.decommissionedAt) return { node, candidates: [], merge: null }
    const known = arches.get(node.id) ?? (isBootArch(node.arch) ? node.arch : null)
    const applying = [
      ...(byNode.get(node.id) ?? []),
      ...groups.withAncestors(node.groupIds).flatMap((group) => byGroup.get(group.id) ?? []),
      ...ofAll,
    ]
    return { node, ...rank(tree, applying, known) }
  })
  const resolved = await resolveRanked(ctx, tree, ranked, cache)
  return new Map(
    ranked.map(({ node, ...each }) => [
      node.id,
      effectiveOf(resolved, each, () =>
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
  const ranked = rank(tree, rows, arch)
  const resolved = await resolveRanked(ctx, tree, [ranked])
  return effectiveOf(resolved, ranked, () => 'No boot profile is assigned to unknown machines.')
}

const keyOf = ({ profileId, layers }: Merge) => [profileId, ...layers].join(' ')

/** Resolves each distinct merge once. */
async function resolveRanked(ctx: Reader, tree: ProfileTree, ranked: readonly Ranked[], cache?: ResolvedProfileCache) {
  const merges = new Map(ranked.flatMap(({ merge }) => (merge ? [[keyOf(merge), merge] as const] : [])))
  const resolved = await resolveMerges(ctx, [...merges.values()], tree, cache)
  return new Map([...resolved].map(([merge, profile]) => [keyOf(merge), profile]))
}

function effectiveOf(
  resolved: Map<string, ResolvedBootProfile>,
  { candidates, merge }: Ranked,
  none: () => string,
): EffectiveBootProfile {
  const profile = (merge && resolved.get(keyOf(merge))) ?? null
  if (profile) return { profile, candidates, reason: null }
  const [misfit] = candidates
  return {
    profile: null,
    candidates,
    reason: misfit ? `No assigned boot profile fits: ${misfit.profile.name}: ${misfit.lostReason}` : none(),
  }
}
