import type { VarMerge } from '../access/tables.ts'
import type { SecretRefs, Vars } from './tables.ts'

// Hand-written: Ansible's own merging runs inside ansible-playbook and cannot report where a value comes from.

/** The four layers, lowest precedence first. */
export const VAR_LAYERS = ['global', 'group', 'node', 'run'] as const
export type VarLayer = (typeof VAR_LAYERS)[number]

/** What one layer says of a variable. `group` is the group's name in that layer; a secret has an id in place of its value. */
export type VarEntry = { value: unknown; secretId: string | null; layer: VarLayer; group: string | null }
/** What holds, with what the layers below said of it, nearest first. Layer and group are those of the nearest that names it. */
export type EffectiveVar = VarEntry & { name: string; overridden: VarEntry[] }
/** One layer's variables, ready to be laid over others. */
export type Layer = [name: string, entry: VarEntry][]

export function layerOf(layer: VarLayer, group: string | null, said: { vars: Vars; secrets?: SecretRefs }): Layer {
  return [
    ...Object.entries(said.vars).map(([name, value]): Layer[0] => [name, { value, secretId: null, layer, group }]),
    ...Object.entries(said.secrets ?? {}).map(([name, secretId]): Layer[0] => [name, { value: null, secretId, layer, group }]),
  ]
}

/** What layers say of each variable, lowest first. */
export type Said = Map<string, VarEntry[]>

export function collect(layers: Layer[]): Said {
  const said: Said = new Map()
  for (const layer of layers)
    for (const [name, entry] of layer) {
      const below = said.get(name)
      if (below) below.push(entry)
      else said.set(name, [entry])
    }
  return said
}

/**
 * What holds of a variable of which `entries` are said, lowest first and at least one: the nearest wins. With `deep`, dictionaries
 * are laid into those below them, key by key and all the way down; anything else replaces, lists too, as Ansible does it.
 */
export function nearestOf(name: string, entries: VarEntry[], merge: VarMerge): EffectiveVar {
  const nearest = entries.at(-1)!
  const value =
    merge === 'deep' ? entries.reduce((below, { value }) => merged(below, value), undefined as unknown) : nearest.value
  return { ...nearest, value, name, overridden: entries.slice(0, -1).reverse() }
}

const isDictionary = (value: unknown): value is Vars => typeof value === 'object' && value !== null && !Array.isArray(value)

function merged(below: unknown, above: unknown): unknown {
  if (!isDictionary(below) || !isDictionary(above)) return above
  const result = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) result.set(key, result.has(key) ? merged(result.get(key), value) : value)
  return Object.fromEntries(result)
}
