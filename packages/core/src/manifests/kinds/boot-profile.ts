import { and, asc } from 'drizzle-orm'
import { z } from 'zod'
import {
  assignBootProfile,
  BOOT_PROFILE_FIELDS,
  BootProfileName,
  createBootProfile,
  deleteBootProfile,
  unassignBootProfile,
  updateBootProfile,
} from '../../boot-profiles/index.ts'
import { bootAssignments, bootProfiles } from '../../boot-profiles/tables.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { expandHostlist, foldHostlist } from '../../selection/index.ts'
import { Hostlist, type Item, type Kind, Name, type Scope, type Stored, specOf, verbInput } from './kind.ts'

const { parentId: _parent, comment: _comment, ...plain } = BOOT_PROFILE_FIELDS
const REFS = { parent: 'BootProfile' } as const

const Assignment = z.strictObject({
  nodes: Hostlist.optional(),
  groups: z.array(Name).max(1000).optional(),
  allNodes: z.literal(true).optional(),
  unknownMachines: z.literal(true).optional(),
  priority: z.int().min(0).max(100_000).optional(),
})
type Assignment = z.output<typeof Assignment>

const kind = {
  // No initrds differ from inherited ones.
  raw: ['initrds'],
  spec: z.strictObject({
    parent: Name.nullish(),
    ...plain,
    assignments: z
      .array(Assignment)
      .max(100, 'at most 100 assignments')
      .transform((list) => inOrder(list))
      .nullish(),
  }),
}

/** One entry per priority, in their order; names sorted. */
function inOrder(list: Assignment[]): Assignment[] {
  const byPriority = Map.groupBy(list, ({ priority }) => priority ?? 100)
  return [...byPriority]
    .sort(([a], [b]) => a - b)
    .map(([priority, some]) => {
      const nodes = foldHostlist(some.flatMap(({ nodes }) => (nodes ? expandHostlist(nodes) : [])))
      const groups = [...new Set(some.flatMap(({ groups }) => groups ?? []))].sort()
      return {
        ...(nodes ? { nodes } : {}),
        ...(groups.length > 0 ? { groups } : {}),
        ...(some.some(({ allNodes }) => allNodes) ? { allNodes: true as const } : {}),
        ...(some.some(({ unknownMachines }) => unknownMachines) ? { unknownMachines: true as const } : {}),
        ...(priority === 100 ? {} : { priority }),
      }
    })
}

async function read({ tx, ctx, lookup }: Scope, names: string[] | null): Promise<Stored[]> {
  const profiles = await tx
    .select()
    .from(bootProfiles)
    .where(and(visibleTo(ctx, bootProfiles), names ? isOneOf(bootProfiles.name, names, 'text') : undefined))
  const ids = profiles.map(({ id }) => id)
  const rows = await tx
    .select()
    .from(bootAssignments)
    .where(and(visibleTo(ctx, bootAssignments), isOneOf(bootAssignments.profileId, ids)))
    .orderBy(asc(bootAssignments.id))
  const byProfile = Map.groupBy(rows, ({ profileId }) => profileId)
  const stored: Stored[] = []
  for (const profile of profiles) {
    const list: Assignment[] = []
    for (const { target, nodeId, groupId, priority } of byProfile.get(profile.id) ?? []) {
      if (target === 'NODE') list.push({ nodes: (await lookup.name('ComputeNode', nodeId))!, priority })
      else if (target === 'GROUP') list.push({ groups: [(await lookup.name('NodeGroup', groupId))!], priority })
      else list.push({ ...(target === 'ALL_NODES' ? { allNodes: true } : { unknownMachines: true }), priority })
    }
    const spec = specOf(kind, {
      ...profile.content,
      parent: await lookup.name('BootProfile', profile.parentId),
      assignments: inOrder(list),
    })
    stored.push({ id: profile.id, name: profile.name, spec, version: profile.version })
  }
  return stored
}

/** The single targets of assignments, by a text that includes the priority. */
function targetsOf(assignments: unknown): Map<string, { nodes: string[]; groups: string[] } & Assignment> {
  const all = new Map<string, never>()
  const add = (target: object, priority = 100) => all.set(JSON.stringify([target, priority]), { ...target, priority } as never)
  for (const { nodes, groups, allNodes, unknownMachines, priority } of (assignments ?? []) as Assignment[]) {
    for (const node of nodes ? expandHostlist(nodes) : []) add({ nodes: [node] }, priority)
    for (const group of groups ?? []) add({ groups: [group] }, priority)
    if (allNodes) add({ allNodes }, priority)
    if (unknownMachines) add({ unknownMachines }, priority)
  }
  return all
}

/** Assigns or unassigns the targets of `left` that are not in `right`, one call per priority. */
async function change(scope: Scope, id: string, left: unknown, right: unknown, verb: 'assign' | 'unassign'): Promise<void> {
  const { ctx, lookup } = scope
  const other = targetsOf(right)
  const differing = [...targetsOf(left)].filter(([key]) => !other.has(key)).map(([, target]) => target)
  for (const [priority, some] of Map.groupBy(differing, ({ priority }) => priority ?? 100)) {
    const ids = { nodeIds: [] as string[], groupIds: [] as string[] }
    for (const { nodes, groups } of some) {
      for (const name of nodes ?? []) ids.nodeIds.push(await lookup.id('ComputeNode', name, 'assignments'))
      for (const name of groups ?? []) ids.groupIds.push(await lookup.id('NodeGroup', name, 'assignments'))
    }
    const whole = {
      allNodes: some.some(({ allNodes }) => allNodes),
      unknownMachines: some.some(({ unknownMachines }) => unknownMachines),
    }
    if (verb === 'assign') await assignBootProfile(ctx, { profileId: id, ...ids, ...whole, priority })
    else await unassignBootProfile(ctx, { profileId: id, ...ids, ...whole })
  }
}

async function update(scope: Scope, { stored, spec, changed: { assignments, ...changed } }: Item & { stored: Stored }) {
  if (assignments !== undefined) await change(scope, stored.id, stored.spec.assignments, spec.assignments, 'unassign')
  if (Object.keys(changed).length === 0) return
  const input = await verbInput(scope, { refs: REFS }, changed)
  await updateBootProfile(scope.ctx, { id: stored.id, version: stored.version!, ...input }, scope.localTargets)
}

export const bootProfile: Kind = {
  ...kind,
  kind: 'BootProfile',
  description:
    'What nodes boot over the network: files, kernel parameters and cloud-init, and the nodes and groups that boot it.',
  name: BootProfileName,
  dependsOn: ({ parent }) => (typeof parent === 'string' ? [parent] : []),
  read,
  async create(scope, { name, spec: { assignments: _assignments, ...spec } }) {
    const input = await verbInput(scope, { refs: REFS }, spec)
    return (await createBootProfile(scope.ctx, { name, ...input }, scope.localTargets)).id
  },
  update,
  async finish(scope, { stored, spec, changed }, id) {
    if (stored && changed.assignments === undefined) return
    await change(scope, id, spec.assignments, stored?.spec.assignments, 'assign')
  },
  async remove(scope, { id, spec }) {
    await change(scope, id, spec.assignments, undefined, 'unassign')
    await deleteBootProfile(scope.ctx, { id })
  },
}
