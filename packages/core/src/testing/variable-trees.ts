import fc from 'fast-check'
import { nodeGroupMembers, nodeGroups } from '../groups/tables.ts'
import type { Ctx } from '../kernel/context.ts'
import { computeNodes } from '../nodes/tables.ts'
import { variableScopes } from '../variables/tables.ts'

type Vars = Record<string, unknown>
/** A group hierarchy and one node in some of its groups. A parent is the index of an earlier group. */
export type VariableTree = { groups: { priority: number; parent: number | null; vars: Vars }[]; memberOf: number[]; vars: Vars }
/** Effective value, the layer it comes from, and the values of the layers below, nearest first. */
export type Expected = { value: unknown; from: string; overridden: [value: unknown, from: string][] }

// Few names, so that layers collide.
const leaf = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed() && !text.includes('\0')),
  fc.constantFrom('{{ 1 + 1 }}', '{% if', '{#', '!x', '~', 'yes'),
)
const key = fc.constantFrom('x', 'y', 'z')
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
}))
const vars = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, {
  maxKeys: 3,
  noNullPrototype: true,
}) as fc.Arbitrary<Vars>
export const variableTree: fc.Arbitrary<VariableTree> = fc
  .array(fc.record({ priority: fc.integer({ min: 0, max: 3 }), parent: fc.option(fc.nat()), vars }), { maxLength: 6 })
  .chain((drawn) => {
    const groups = drawn.map((group, i) => ({ ...group, parent: i === 0 || group.parent === null ? null : group.parent % i }))
    const places = groups.map((_, i) => i)
    return fc.record({ groups: fc.constant(groups), memberOf: fc.subarray(places), vars })
  })
export const treeVars = vars

const groupName = (tree: number, group: number) => `t${String(tree).padStart(4, '0')}_g${group}`
export const treeNode = (tree: number): string => `n${String(tree).padStart(4, '0')}`

/** Inserts the trees and the tenant's global variables. @returns node ids in the order of the trees */
export async function insertTrees(ctx: Ctx, trees: VariableTree[], globalVars: Vars): Promise<string[]> {
  const { tenantId, db } = ctx
  const nodes = await db
    .insert(computeNodes)
    .values(trees.map((_, t) => ({ tenantId, name: treeNode(t), host: 'test' })))
    .returning({ id: computeNodes.id })
  const ids: string[][] = trees.map(() => [])
  for (let i = 0; i < 6; i++) {
    const level = trees.flatMap(({ groups }, t) => groups.slice(i, i + 1).map((group) => ({ t, group })))
    if (level.length === 0) break
    const rows = await db
      .insert(nodeGroups)
      .values(
        level.map(({ t, group }) => ({
          tenantId,
          name: groupName(t, i),
          priority: group.priority,
          parentId: group.parent === null ? null : ids[t]![group.parent]!,
        })),
      )
      .returning({ id: nodeGroups.id })
    for (const [k, { t }] of level.entries()) ids[t]!.push(rows[k]!.id)
  }
  const members = trees.flatMap(({ memberOf }, t) => memberOf.map((i) => ({ nodeId: nodes[t]!.id, groupId: ids[t]![i]! })))
  if (members.length > 0) await db.insert(nodeGroupMembers).values(members)
  const scope = { tenantId, updatedByName: 'test' }
  await db
    .insert(variableScopes)
    .values([
      { ...scope, vars: globalVars },
      ...trees.map((tree, t) => ({ ...scope, nodeId: nodes[t]!.id, vars: tree.vars })),
      ...trees.flatMap(({ groups }, t) => groups.map((group, i) => ({ ...scope, groupId: ids[t]![i]!, vars: group.vars }))),
    ])
  return nodes.map((node) => node.id)
}

/** Reference implementation of the effective variables of a tree's node: simple, slow, and independent of the product's code. */
export function expectedVars(tree: VariableTree, t: number, globalVars: Vars, isDeep: boolean): Record<string, Expected> {
  const depth = (i: number): number => (tree.groups[i]!.parent === null ? 0 : 1 + depth(tree.groups[i]!.parent!))
  const isIn = (i: number): boolean => tree.memberOf.includes(i) || tree.groups.some((group, j) => group.parent === i && isIn(j))
  const nearer = (a: number, b: number) => depth(b) - depth(a) || tree.groups[a]!.priority - tree.groups[b]!.priority || a - b
  const layers = [
    { from: 'node', vars: tree.vars },
    ...tree.groups
      .map((_, i) => i)
      .filter(isIn)
      .sort(nearer)
      .map((i) => ({ from: groupName(t, i), vars: tree.groups[i]!.vars })),
    { from: 'global', vars: globalVars },
  ]
  const result: Record<string, Expected> = {}
  for (const name of ['a', 'b', 'c', 'd']) {
    const [first, ...rest] = layers.filter((layer) => name in layer.vars)
    if (!first) continue
    const values = [first, ...rest].map((layer) => layer.vars[name])
    result[name] = {
      value: isDeep ? mergeDeep(values) : values[0],
      from: first.from,
      overridden: rest.map((layer) => [layer.vars[name], layer.from]),
    }
  }
  return result
}

const isDictionary = (value: unknown): value is Vars => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Deep merge, nearest first: a value that is not a dictionary hides all values below it. */
function mergeDeep(values: unknown[]): unknown {
  if (!isDictionary(values[0])) return values[0]
  const end = values.findIndex((value) => !isDictionary(value))
  const seen = (end === -1 ? values : values.slice(0, end)) as Vars[]
  const keys = [...new Set(seen.flatMap((value) => Object.keys(value)))]
  return Object.fromEntries(keys.map((key) => [key, mergeDeep(seen.filter((value) => key in value).map((value) => value[key]))]))
}
