import { z } from 'zod'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import type { LocalTarget } from '../../kernel/outbound/index.ts'
import { expandHostlist, foldHostlist } from '../../selection/index.ts'
import type { Lookup } from './lookup.ts'

/** The kinds in the order in which they are applied; later ones refer to earlier ones. Deletions run in the reverse order. */
export const KINDS = [
  'Credential',
  'JobTemplate',
  'NodeGroup',
  'ComputeNode',
  'BootProfile',
  'Variables',
  'SlurmCluster',
  'AlertRoute',
] as const
export type KindName = (typeof KINDS)[number]

/** Fields of an object as JSON values. A missing field has its default value. */
export type Spec = Record<string, unknown>

/** An object as it is stored. */
export type Stored = {
  id: string
  name: string
  spec: Spec
  /** It is decommissioned or archived: applying it returns it to service. */
  isRetired?: boolean
  /** For verbs that require the version on which a change is based. */
  version?: number
  /** Decommissioned nodes of a group, which manifests neither list nor remove. */
  retiredMembers?: string[]
  /** Why a manifest cannot change or export it. */
  unmanagedReason?: string
}

/** An object to create (`stored` is null) or to change. */
export type Item = {
  name: string
  stored: Stored | null
  /** All fields after the change. */
  spec: Spec
  /** The top-level fields that change; a null value is the default. */
  changed: Spec
}

export type Scope = { tx: Tx; ctx: Ctx; lookup: Lookup; localTargets: readonly LocalTarget[] }

/** One kind of object: how manifests describe it, and the verbs that change it. */
export type Kind = {
  kind: KindName
  description: string
  name: z.ZodType<string>
  /** Fields of the spec, all optional. */
  spec: z.ZodObject
  /** Fields whose entries are compared and owned one by one. */
  maps?: readonly string[]
  /** Fields with any JSON in them, which is not normalized. */
  raw?: readonly string[]
  defaults?: Spec
  /** Why fields that users may try are missing. */
  hints?: Record<string, string>
  /** Fields that differ from node to node; plans fold objects that differ only in them. */
  individual?: readonly string[]
  /** Values that two objects cannot share. */
  unique?(spec: Spec): { what: string; value: string; path: string }[]
  /** Removes values that equal defaults which depend on other fields. */
  normalize?(spec: Spec, stored: Stored | null): Spec
  /** Names of objects of the same kind that must be created before. */
  dependsOn?(spec: Spec): string[]
  /** @param names null: all */
  read(scope: Scope, names: string[] | null): Promise<Stored[]>
  /** @returns the ID */
  create(scope: Scope, item: Item): Promise<string>
  /** Creates many at once, all or nothing. Issues have paths `nodes.N.field`. @returns the IDs by name */
  createAll?(scope: Scope, items: Item[]): Promise<Map<string, string>>
  update(scope: Scope, item: Item & { stored: Stored }): Promise<void>
  /** Whether `updateAll` supports the change. */
  isPlainUpdate?(item: Item & { stored: Stored }): boolean
  /** Changes many at once, all or nothing. Issues have paths `nodes.N.field`. */
  updateAll?(scope: Scope, items: (Item & { stored: Stored })[]): Promise<void>
  /** Runs after all creations and changes of all kinds. */
  finish?(scope: Scope, item: Item, id: string): Promise<void>
  restore?(scope: Scope, stored: Stored): Promise<void>
  remove(scope: Scope, stored: Stored): Promise<void>
  /** Removes many at once, all or nothing. */
  removeAll?(scope: Scope, stored: Stored[]): Promise<void>
}

/** Name of another object. */
export const Name = singleLineText(128)

/** Nodes as a hostlist or a list of names; normalized to a hostlist. */
export const Hostlist = z
  .union([z.string(), z.array(z.string())], 'must be a hostlist such as gpu[01-64], or a list of names')
  .transform((given, issue) => {
    try {
      return foldHostlist(Array.isArray(given) ? given : expandHostlist(given))
    } catch (error) {
      issue.addIssue(error instanceof InvalidInput ? error.message : String(error))
      return z.NEVER
    }
  })

export const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && !Array.isArray(value) && Object.keys(value as object).length === 0)

/** Without empty members of the objects in `value`. */
export function compact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compact)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => {
      const inner = compact(each)
      return isEmpty(inner) ? [] : [[key, inner]]
    }),
  )
}

/** The fields of `values` that the kind has, without defaults, in the order of the kind. */
export function specOf(kind: Pick<Kind, 'spec' | 'raw' | 'maps' | 'defaults'>, values: Record<string, unknown>): Spec {
  const spec: Spec = {}
  for (const key of Object.keys(kind.spec.shape)) {
    const value = values[key]
    const isRaw = kind.raw?.includes(key) || kind.maps?.includes(key)
    const inner = isRaw ? value : compact(value)
    const preset = kind.defaults?.[key]
    const isPreset =
      preset === undefined
        ? isRaw
          ? value == null || (kind.maps?.includes(key) && isEmpty(value))
          : isEmpty(inner)
        : isSame(inner, preset)
    if (inner != null && !isPreset) spec[key] = inner
  }
  return spec
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** `changed` as input of a verb: names of other objects as IDs, defaults in place of null. */
export async function verbInput(
  { lookup }: Scope,
  { refs = {}, defaults = {} }: { refs?: Record<string, Parameters<Lookup['id']>[0]>; defaults?: Spec },
  changed: Spec,
): Promise<Record<string, never>> {
  const input: Spec = {}
  for (const [key, value] of Object.entries(changed)) {
    const kind = refs[key]
    if (kind) input[`${key}Id`] = value === null ? null : await lookup.id(kind, String(value), key)
    else input[key] = value === null && key in defaults ? defaults[key] : value
  }
  return input as Record<string, never>
}
