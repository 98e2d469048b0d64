import type { VarMerge } from '../access/tables.ts'
import type { SecretRefs, Vars } from './tables.ts'

// Hand-written: Ansible's own merging runs inside ansible-playbook and cannot report where a value comes from.

/** The four layers, lowest precedence first. */
export const VAR_LAYERS = ['global', 'group', 'node', 'run'] as const
export type VarLayer = (typeof VAR_LAYERS)[number]

/** Value of a variable in one layer. `group` is the group's name in that layer; a secret has an id instead of a value. */
export type VarEntry = { value: unknown; secretId: string | null; layer: VarLayer; group: string | null }
/**
 * The effective value, with the overridden values of lower layers, nearest first. Layer and group are those of the nearest entry.
 */
export type EffectiveVar = VarEntry & { name: string; overridden: VarEntry[] }
/** Variables of one layer, ready for a merge. */
export type Layer = [name: string, entry: VarEntry][]

export function layerOf(layer: VarLayer, group: string | null, content: { vars: Vars; secrets?: SecretRefs }): Layer {
  return [
    ...Object.entries(content.vars).map(([name, value]): Layer[0] => [name, { value, secretId: null, layer, group }]),
    ...Object.entries(content.secrets ?? {}).map(([name, secretId]): Layer[0] => [name, { value: null, secretId, layer, group }]),
  ]
}

/** Entries of each variable, lowest layer first. */
export type EntriesByName = Map<string, VarEntry[]>

export function collect(layers: Layer[]): EntriesByName {
  const byName: EntriesByName = new Map()
  for (const layer of layers)
    for (const [name, entry] of layer) {
      const below = byName.get(name)
      if (below) below.push(entry)
      else byName.set(name, [entry])
    }
  return byName
}

/**
 * Returns the effective value of a variable from at least one of its `entries`, lowest first. The nearest wins. With `deep`,
 * dictionaries merge recursively, as in Ansible. All other values replace those below, including lists.
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
