import { and, eq, isNull } from 'drizzle-orm'
import { z } from 'zod'
import type { Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { computeNodes } from '../nodes/tables.ts'
import { isSameValue } from './compare-vars.ts'
import { layNodes, type NodeLayers, readLayers } from './effective-vars.ts'
import { type EffectiveVar, type Layer, layerOf } from './layer.ts'
import { variableNameError } from './names.ts'
import { parseVars } from './parse-vars.ts'
import { findScope, isOneScope, ONE_SCOPE, SCOPE_FIELDS, type Scope } from './scope.ts'
import type { SecretRefs, Vars } from './tables.ts'

const EXAMPLES = 5

export const VarsImpactInput = z
  .object({ ...SCOPE_FIELDS, text: z.string().nullish(), secret: z.string().nullish() })
  .refine(isOneScope, ONE_SCOPE)
  .refine(({ text, secret }) => (text == null) !== (secret == null), {
    path: ['text'],
    message: 'give either the text or the name of a secret variable',
  })

export type VarsImpact = {
  /** Number of nodes in service that the scope applies to, and number of them with a changed value. */
  nodes: number
  changed: number
  /** By name: the number of changed nodes, and old and new value on some of them; null where it is not set. */
  vars: {
    name: string
    nodes: number
    examples: { nodeId: string; node: string; before: EffectiveVar | null; after: EffectiveVar | null }[]
  }[]
}

/**
 * Previews the effect of setting this text as the variables of a scope, or of another value of this secret. Saves nothing and
 * reads no secret.
 * @throws InvalidInput at text or secret, as when they are set; NotFound no such scope
 */
export async function varsImpact(ctx: Ctx, input: z.input<typeof VarsImpactInput>): Promise<VarsImpact> {
  const { text, secret, ...ref } = parseInput(VarsImpactInput, input)
  const edited = text == null ? null : parseVars(text)
  const scope = await findScope(ctx.db, ctx, ref)
  const proposed = edited ? { vars: edited, secrets: scope.row?.secrets ?? {} } : withOtherSecret(scope, secret!)
  const all = await ctx.db
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(
      scope.nodeId ? eq(computeNodes.id, scope.nodeId) : and(visibleTo(ctx, computeNodes), isNull(computeNodes.decommissionedAt)),
    )
  const read = await readLayers(
    ctx,
    all.map((node) => node.id),
  )
  const { groupId } = scope
  const nodes = groupId ? read.nodes.filter(({ id }) => read.groupsOf(id).some((group) => group.id === groupId)) : read.nodes
  const key = groupId ?? scope.nodeId
  const group = groupId ? nodes[0] && read.groupsOf(nodes[0].id).find((each) => each.id === groupId)?.name : null
  const layer = layerOf(groupId ? 'group' : scope.nodeId ? 'node' : 'global', group ?? null, proposed)
  return { nodes: nodes.length, ...differences({ ...read, nodes }, key, layer) }
}

/** The scope with a new, unknown value of a secret variable. */
function withOtherSecret({ row, label }: Scope, name: string): { vars: Vars; secrets: SecretRefs } {
  const { vars = {}, secrets = {} } = row ?? {}
  const isPlain = Object.hasOwn(vars, name)
  const wrong =
    variableNameError(name) ?? (isPlain ? `${name} is already a plain variable of ${label}; remove it there first` : null)
  if (wrong) throw new InvalidInput([{ path: 'secret', message: wrong }])
  return { vars, secrets: { ...secrets, [name]: 'another' } }
}

function differences(read: NodeLayers, key: string | null, layer: Layer): Omit<VarsImpact, 'nodes'> {
  const [was, is] = [new Map(read.of.get(key)), new Map(layer)]
  const names = new Set([...was.keys(), ...is.keys()].filter((name) => !isSameValue(was.get(name), is.get(name))))
  // Unchanged variables of the scope cannot change on any node.
  const of = new Map([...read.of].map(([place, entries]) => [place, entries.filter(([name]) => names.has(name))]))
  const before = layNodes({ ...read, of })
  const after = layNodes({
    ...read,
    of: new Map(of).set(
      key,
      layer.filter(([name]) => names.has(name)),
    ),
  })
  const found = new Map<string, VarsImpact['vars'][0]>()
  let changed = 0
  for (const { id, name: node } of read.nodes) {
    const [old, now] = [before, after].map((by) => new Map(by.get(id)!.map((each) => [each.name, each])))
    const different = [...names].filter((name) => !isSameValue(old!.get(name), now!.get(name)))
    if (different.length > 0) changed++
    for (const name of different) {
      const entry = found.get(name) ?? { name, nodes: 0, examples: [] }
      found.set(name, entry)
      entry.nodes++
      if (entry.examples.length < EXAMPLES)
        entry.examples.push({ nodeId: id, node, before: old!.get(name) ?? null, after: now!.get(name) ?? null })
    }
  }
  return { changed, vars: [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1)) }
}
