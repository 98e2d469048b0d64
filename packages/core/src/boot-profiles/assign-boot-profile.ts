import { and, eq, inArray, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorizeGroup, authorizeNodes } from '../groups/index.ts'
import { nodeGroups } from '../groups/tables.ts'
import { authorize, authorizeSomewhere, type Ctx, createdBy, inTransaction, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { type InputIssue, InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id, Ids } from '../kernel/input.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { computeNodes } from '../nodes/tables.ts'
import { bootProfileAudit } from './audit-actions.ts'
import { bootProfileChanged } from './change-events.ts'
import { bootProfilePermissions } from './permissions.ts'
import { type BootProfile, type BootTarget, bootAssignments } from './tables.ts'
import { findBootProfile } from './write.ts'

const TARGETS = {
  profileId: Id,
  nodeIds: Ids.nullish(),
  groupIds: Ids.nullish(),
  /** All nodes of the tenant: the default. */
  allNodes: z.boolean().nullish(),
  unknownMachines: z.boolean().nullish(),
}
const isSomething = ({ nodeIds, groupIds, allNodes, unknownMachines }: Partial<z.output<typeof Targets>>) =>
  (nodeIds?.length ?? 0) + (groupIds?.length ?? 0) > 0 || allNodes === true || unknownMachines === true
const NOTHING = { path: ['nodeIds'], message: 'name nodes or groups, all nodes, or unknown machines' }
const Targets = z.object(TARGETS)

export const AssignBootProfileInput = z
  .object({
    ...TARGETS,
    /** The lower number wins; default 100. */
    priority: z.int('must be a whole number').min(0).max(100_000).nullish(),
  })
  .refine(isSomething, NOTHING)
export const UnassignBootProfileInput = Targets.refine(isSomething, NOTHING)

type Place = { target: BootTarget; nodeId: string | null; groupId: string | null }

/** The rows that the targets name, in one order, so that concurrent calls do not deadlock. */
function placesOf({ nodeIds, groupIds, allNodes, unknownMachines }: z.output<typeof Targets>): Place[] {
  return [
    ...[...(nodeIds ?? [])].sort().map((nodeId): Place => ({ target: 'NODE', nodeId, groupId: null })),
    ...[...(groupIds ?? [])].sort().map((groupId): Place => ({ target: 'GROUP', nodeId: null, groupId })),
    ...(allNodes ? [{ target: 'ALL_NODES', nodeId: null, groupId: null } as const] : []),
    ...(unknownMachines ? [{ target: 'UNKNOWN_MACHINES', nodeId: null, groupId: null } as const] : []),
  ]
}

/** @throws Forbidden */
async function authorizeTargets(tx: Tx, ctx: Ctx, targets: z.output<typeof Targets>): Promise<void> {
  const { nodeIds, groupIds, allNodes, unknownMachines } = targets
  const permission = bootProfilePermissions.assign
  if (allNodes || unknownMachines) authorize(ctx, permission)
  if (nodeIds?.length) await authorizeNodes(tx, ctx, permission, nodeIds)
  for (const id of groupIds ?? []) await authorizeGroup(tx, ctx, permission, id)
}

/** Locks the nodes and groups against deletion. @throws InvalidInput */
async function assertTargets(tx: Tx, ctx: Ctx, { nodeIds, groupIds }: z.output<typeof Targets>): Promise<void> {
  const nodes = nodeIds?.length
    ? await tx
        .select({ id: computeNodes.id, name: computeNodes.name, decommissionedAt: computeNodes.decommissionedAt })
        .from(computeNodes)
        .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
        .for('key share')
    : []
  const groups = groupIds?.length
    ? await tx
        .select({ id: nodeGroups.id })
        .from(nodeGroups)
        .where(and(visibleTo(ctx, nodeGroups), isOneOf(nodeGroups.id, groupIds)))
        .for('key share')
    : []
  const [nodeOf, knownGroups] = [new Map(nodes.map((node) => [node.id, node])), new Set(groups.map(({ id }) => id))]
  const issues = [
    ...(nodeIds ?? []).flatMap((id, i): InputIssue[] => {
      const node = nodeOf.get(id)
      if (!node) return [{ path: `nodeIds.${i}`, message: `there is no node ${id}` }]
      return node.decommissionedAt
        ? [{ path: `nodeIds.${i}`, message: `the node ${node.name} is decommissioned; recommission it first` }]
        : []
    }),
    ...(groupIds ?? []).flatMap((id, i): InputIssue[] =>
      knownGroups.has(id) ? [] : [{ path: `groupIds.${i}`, message: `there is no group ${id}` }],
    ),
  ]
  if (issues.length > 0) throw new InvalidInput(issues)
}

const detailsOf = ({ nodeIds, groupIds, allNodes, unknownMachines }: z.output<typeof Targets>) => ({
  ...(nodeIds?.length ? { nodes: nodeIds } : {}),
  ...(groupIds?.length ? { groups: groupIds } : {}),
  ...(allNodes ? { allNodes } : {}),
  ...(unknownMachines ? { unknownMachines } : {}),
})

function notify(ctx: Ctx, profile: BootProfile, nodeIds: string[] | null | undefined): void {
  ctx.notify(bootProfileChanged(profile))
  for (const id of nodeIds ?? []) ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
}

/**
 * Assigns a profile to nodes, groups, all nodes or unknown machines; sets the priority of existing assignments. Nodes boot it at their
 * next boot if no other assignment wins: see `effectiveBootProfiles`.
 * @throws NotFound the profile; InvalidInput a node or group does not exist, or a node is decommissioned; Forbidden
 */
export async function assignBootProfile(ctx: Ctx, input: z.input<typeof AssignBootProfileInput>): Promise<BootProfile> {
  authorizeSomewhere(ctx, bootProfilePermissions.assign)
  const { priority, ...targets } = parseInput(AssignBootProfileInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeTargets(tx, ctx, targets)
    const profile = await findBootProfile(tx, ctx, targets.profileId)
    await assertTargets(tx, ctx, targets)
    const rows = placesOf(targets).map((place) => ({
      ...place,
      tenantId: ctx.tenantId,
      profileId: profile.id,
      priority: priority ?? 100,
      ...createdBy(ctx),
    }))
    for (let i = 0; i < rows.length; i += ROWS_PER_INSERT)
      await tx
        .insert(bootAssignments)
        .values(rows.slice(i, i + ROWS_PER_INSERT))
        .onConflictDoUpdate({
          target: [bootAssignments.profileId, bootAssignments.target, bootAssignments.nodeId, bootAssignments.groupId],
          // Without a priority, existing assignments keep theirs.
          set: { priority: priority == null ? sql`${bootAssignments.priority}` : priority, updatedAt: sql`now()` },
        })
    await audit(tx, ctx, bootProfileAudit.assign, profile, { ...detailsOf(targets), priority: priority ?? 100 })
    notify(ctx, profile, targets.nodeIds)
    return profile
  })
}
// A statement takes at most 65,535 parameters.
const ROWS_PER_INSERT = 2000

/** Removes assignments of a profile. Targets without one are skipped. @throws NotFound the profile; Forbidden */
export async function unassignBootProfile(ctx: Ctx, input: z.input<typeof UnassignBootProfileInput>): Promise<BootProfile> {
  authorizeSomewhere(ctx, bootProfilePermissions.assign)
  const targets = parseInput(UnassignBootProfileInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    await authorizeTargets(tx, ctx, targets)
    const profile = await findBootProfile(tx, ctx, targets.profileId)
    const whole = placesOf(targets).flatMap(({ target, nodeId, groupId }) => ((nodeId ?? groupId) ? [] : [target]))
    await tx
      .delete(bootAssignments)
      .where(
        and(
          visibleTo(ctx, bootAssignments),
          eq(bootAssignments.profileId, profile.id),
          or(
            isOneOf(bootAssignments.nodeId, targets.nodeIds ?? []),
            isOneOf(bootAssignments.groupId, targets.groupIds ?? []),
            inArray(bootAssignments.target, whole),
          ),
        ),
      )
    await audit(tx, ctx, bootProfileAudit.unassign, profile, detailsOf(targets))
    notify(ctx, profile, targets.nodeIds)
    return profile
  })
}
