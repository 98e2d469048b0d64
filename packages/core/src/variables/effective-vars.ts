import { and, eq, isNull, or } from 'drizzle-orm'
import { tenants, type VarMerge } from '../access/tables.ts'
import { groupsOfNodes } from '../groups/index.ts'
import type { NodeGroup } from '../groups/tables.ts'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/tables.ts'
import { collect, type EffectiveVar, type EntriesByName, type Layer, layerOf, nearestOf } from './layer.ts'
import { type SecretRefs, type Vars, variableScopes } from './tables.ts'

const NO_GROUPS: NodeGroup[] = []

/** Layer that a run adds on top. */
export type RunLayer = { vars: Vars; secrets?: SecretRefs }

/** Consistent read of the layers of nodes. */
export type NodeLayers = {
  merge: VarMerge
  nodes: { id: string; name: string }[]
  /** The groups of a node, nearest last. Nodes in the same groups share one list. */
  groupsOf(nodeId: string): NodeGroup[]
  /** Variables by the id of a group or node; null: of all nodes. Undefined when none were ever set. */
  of: Map<string | null, Layer>
}

/** Reads the layers of these nodes with five statements, for any number of nodes. Nodes of other tenants are absent. */
export async function readLayers({ db, tenantId }: Pick<Ctx, 'db' | 'tenantId'>, nodeIds: string[]): Promise<NodeLayers> {
  const [nodes, [tenant], groups, scopes] = await Promise.all([
    db
      .select({ id: computeNodes.id, name: computeNodes.name })
      .from(computeNodes)
      .where(and(visibleTo({ tenantId }, computeNodes), isOneOf(computeNodes.id, nodeIds))),
    db.select({ merge: tenants.varMerge }).from(tenants).where(eq(tenants.id, tenantId)),
    groupsOfNodes(db, { tenantId }, nodeIds),
    db
      .select({
        groupId: variableScopes.groupId,
        nodeId: variableScopes.nodeId,
        vars: variableScopes.vars,
        secrets: variableScopes.secrets,
      })
      .from(variableScopes)
      .where(
        and(visibleTo({ tenantId }, variableScopes), or(isNull(variableScopes.nodeId), isOneOf(variableScopes.nodeId, nodeIds))),
      ),
  ])
  const names = new Map([...groups.values()].flat().map((group) => [group.id, group.name]))
  const of = new Map(
    scopes.map(({ groupId, nodeId, ...content }): [string | null, Layer] => [
      groupId ?? nodeId,
      layerOf(groupId ? 'group' : nodeId ? 'node' : 'global', groupId ? (names.get(groupId) ?? null) : null, content),
    ]),
  )
  return { merge: tenant!.merge, nodes, groupsOf: (id) => groups.get(id) ?? NO_GROUPS, of }
}

/** Merges the layers of every node. Nodes in the same groups share the merged group layers. */
export function layNodes({ merge, nodes, groupsOf, of }: NodeLayers, run?: Layer): Map<string, EffectiveVar[]> {
  const below = new Map<NodeGroup[], { byName: EntriesByName; vars: EffectiveVar[] }>()
  const belowNode = (groups: NodeGroup[]) => {
    const known = below.get(groups)
    if (known) return known
    const byName = collect([null, ...groups.map((group) => group.id)].flatMap((place) => [of.get(place) ?? []]))
    const shared = { byName, vars: Array.from(byName, ([name, entries]) => nearestOf(name, entries, merge)) }
    below.set(groups, shared)
    return shared
  }
  return new Map(
    nodes.map(({ id }) => {
      const { byName, vars } = belowNode(groupsOf(id))
      const own = collect([of.get(id) ?? [], run ?? []])
      if (own.size === 0) return [id, vars]
      const laid = Array.from(own, ([name, entries]) => nearestOf(name, [...(byName.get(name) ?? []), ...entries], merge))
      return [id, [...vars.filter((each) => !own.has(each.name)), ...laid]]
    }),
  )
}

/** Inventory data of a node: its groups, nearest last, and its variables. */
export type NodeVars = { groups: string[]; vars: EffectiveVar[] }

/**
 * Returns the groups and variables of these nodes from one consistent read. Secrets are ids, never values.
 * @param run the layer that a run adds on top
 */
export async function varsOfNodes(ctx: Ctx, nodeIds: string[], run?: RunLayer): Promise<Map<string, NodeVars>> {
  const read = await readLayers(ctx, nodeIds)
  const laid = layNodes(read, run && layerOf('run', null, run))
  return new Map([...laid].map(([id, vars]) => [id, { groups: read.groupsOf(id).map((group) => group.name), vars }]))
}

/** Returns every variable of these nodes, with its origin and the values that it overrides: see `varsOfNodes`. */
export async function effectiveVars(ctx: Ctx, nodeIds: string[], run?: RunLayer): Promise<Map<string, EffectiveVar[]>> {
  return new Map([...(await varsOfNodes(ctx, nodeIds, run))].map(([id, { vars }]) => [id, vars]))
}
