import { hash } from 'node:crypto'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import type { Kind, Spec } from '../kinds/index.ts'

/** Fields of an object by path: those of the spec, and the entries of its maps, such as `labels.rack`. */
export type Fields = Map<string, unknown>

/** The fields of a spec. */
export function flatten(kind: Kind, spec: Spec): Fields {
  const fields: Fields = new Map()
  for (const [key, value] of Object.entries(spec)) {
    if (value === undefined) continue
    if (kind.maps?.includes(key) && value !== null && typeof value === 'object')
      for (const [name, each] of Object.entries(value)) fields.set(`${key}.${name}`, each)
    else fields.set(key, value)
  }
  return fields
}

/** The spec with these fields; missing ones have their defaults. */
export function unflatten(kind: Kind, fields: Fields): Spec {
  const spec: Spec = {}
  for (const [path, value] of fields) {
    const key = keyOf(kind, path)
    if (value === undefined) continue
    if (key === path) {
      if (value !== null) spec[key] = value
    } else spec[key] = { ...(spec[key] as object), [path.slice(key.length + 1)]: value }
  }
  return spec
}

/** Whether a field has this value; null is the default of a field, but a value of a map's entry. */
export const hasValue = (kind: Kind, path: string, current: unknown, wanted: unknown): boolean =>
  isEqual(current, wanted) && (keyOf(kind, path) === path || (current === undefined) === (wanted === undefined))

/** The field of the spec to which a path belongs. */
export const keyOf = (kind: Kind, path: string): string => kind.maps?.find((map) => path.startsWith(`${map}.`)) ?? path

export const isEqual = (a: unknown, b: unknown): boolean => a === b || canonicalJson(a ?? null) === canonicalJson(b ?? null)

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 16)
export const digestOf = (value: unknown): string => digest(canonicalJson(value ?? null))
/** Identifies the state of an object. */
export const versionOf = (fields: Fields): string => digest(canonicalJson(Object.fromEntries(fields)))
