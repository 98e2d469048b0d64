import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import {
  createNodeGroup,
  deleteNodeGroup,
  GROUP_FIELDS,
  managedGroupReasons,
  setNodeGroupMembers,
  updateNodeGroup,
} from '../../groups/index.ts'
import { nodeGroupMembers, nodeGroups } from '../../groups/tables.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { computeNodes } from '../../nodes/tables.ts'
import { expandHostlist, foldHostlist } from '../../selection/index.ts'
import { Hostlist, type Kind, Name, type Scope, type Spec, type Stored, specOf, verbInput } from './kind.ts'

const { name, parentId: _parent, isSystem: _system, ...plain } = GROUP_FIELDS
const REFS = { parent: 'NodeGroup' } as const

const kind = {
  spec: z.strictObject({ ...plain, parent: Name.nullish(), members: Hostlist.nullish() }),
  defaults: { description: '', priority: 100, exclusiveSet: '', kind: 'AD_HOC' },
}

async function read({ tx, ctx, lookup }: Scope, names: string[] | null): Promise<Stored[]> {
  const groups = await tx
    .select()
    .from(nodeGroups)
    .where(and(visibleTo(ctx, nodeGroups), names ? isOneOf(nodeGroups.name, names, 'text') : undefined))
  const reasons = await managedGroupReasons(tx, ctx, groups)
  const rows = await tx
    .select({ groupId: nodeGroupMembers.groupId, name: computeNodes.name, decommissionedAt: computeNodes.decommissionedAt })
    .from(nodeGroupMembers)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeGroupMembers.nodeId))
    .where(
      and(
        visibleTo(ctx, computeNodes),
        isOneOf(
          nodeGroupMembers.groupId,
          groups.map(({ id }) => id),
        ),
      ),
    )
  const members = Map.groupBy(rows, ({ groupId }) => groupId)
  const stored: Stored[] = []
  for (const group of groups) {
    const unmanagedReason = reasons.get(group.id)
    const { current = [], retired } = Object.groupBy(members.get(group.id) ?? [], ({ decommissionedAt }) =>
      decommissionedAt ? 'retired' : 'current',
    )
    const spec = specOf(kind, {
      ...group,
      parent: await lookup.name('NodeGroup', group.parentId),
      members: foldHostlist(current.map(({ name }) => name)),
    })
    stored.push({
      ...{ id: group.id, name: group.name, spec },
      ...(retired ? { retiredMembers: retired.map(({ name }) => name) } : {}),
      ...(unmanagedReason ? { unmanagedReason } : {}),
    })
  }
  return stored
}

const namesOf = (members: unknown): string[] => (typeof members === 'string' ? expandHostlist(members) : [])

/** Node IDs of the members in `left` that are not in `right`. */
async function idsOf({ lookup }: Scope, left: unknown, right: unknown): Promise<string[]> {
  const other = new Set(namesOf(right))
  const ids: string[] = []
  for (const name of namesOf(left)) if (!other.has(name)) ids.push(await lookup.id('ComputeNode', name, 'members'))
  return ids
}

/** Without decommissioned members, so that a manifest that still lists them changes nothing. */
function normalize(spec: Spec, stored: Stored | null): Spec {
  const retired = new Set(stored?.retiredMembers)
  const members = namesOf(spec.members)
  const kept = members.filter((name) => !retired.has(name))
  return kept.length === members.length ? spec : { ...spec, members: kept.length > 0 ? foldHostlist(kept) : null }
}

export const nodeGroup: Kind = {
  ...kind,
  normalize,
  kind: 'NodeGroup',
  description: 'A group of nodes: members, or the result of a member query.',
  name,
  dependsOn: ({ parent }) => (typeof parent === 'string' ? [parent] : []),
  read,
  async create(scope, { name, spec: { members: _members, ...spec } }) {
    return (await createNodeGroup(scope.ctx, { name, ...(await verbInput(scope, { refs: REFS }, spec)) })).id
  },
  async update(scope, { stored, spec, changed: { members, ...changed } }) {
    // Nodes leave first, so that they can join another group of an exclusive set.
    const removeNodeIds = members === undefined ? [] : await idsOf(scope, stored.spec.members, spec.members)
    if (removeNodeIds.length > 0) await setNodeGroupMembers(scope.ctx, { id: stored.id, removeNodeIds })
    if (Object.keys(changed).length > 0)
      await updateNodeGroup(scope.ctx, { id: stored.id, ...(await verbInput(scope, { refs: REFS }, changed)) })
  },
  async finish(scope, { stored, spec, changed }, id) {
    if (stored && changed.members === undefined) return
    const addNodeIds = await idsOf(scope, spec.members, stored?.spec.members)
    for (let i = 0; i < addNodeIds.length; i += 10_000)
      await setNodeGroupMembers(scope.ctx, { id, addNodeIds: addNodeIds.slice(i, i + 10_000) })
  },
  remove: async ({ ctx }, { id }) => void (await deleteNodeGroup(ctx, { id })),
}
