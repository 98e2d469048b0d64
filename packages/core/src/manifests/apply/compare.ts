import { and } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import {
  compact,
  type Item,
  isEmpty,
  type Kind,
  type KindName,
  kinds,
  type Scope,
  type Spec,
  type Stored,
} from '../kinds/index.ts'
import type { ManifestObject } from '../parse/parse-manifests.ts'
import { manifestObjects, type OwnedFields } from '../tables.ts'
import { digestOf, type Fields, flatten, hasValue, isEqual, keyOf, unflatten, versionOf } from './fields.ts'
import type { Options } from './input.ts'
import type { ManifestConflict } from './result.ts'

/** Digests of the fields of an object, by owner. */
type Owners = Map<string, { id: string; fields: OwnedFields }>

/** What has to happen with one object. */
export type Step = {
  kind: Kind
  item: Item
  object: ManifestObject | null
  action: 'CREATE' | 'UPDATE' | 'DELETE' | 'UNCHANGED'
  before: Fields
  after: Fields
  /** Paths that differ. */
  differing: string[]
  /** Fields that the owner has from now on. */
  owned: OwnedFields
  owners: Owners
  conflicts: ManifestConflict[]
}

/** Compares the objects of the manifests with the stored ones, in the order of the kinds. Writes nothing. */
export async function compareAll(scope: Scope, objects: ManifestObject[], options: Options): Promise<Step[]> {
  const byKind = Map.groupBy(objects, ({ kind }) => kind)
  const steps: Step[] = []
  for (const kind of kinds) {
    const wanted = byKind.get(kind.kind) ?? []
    if (wanted.length === 0 && !options.prune) continue
    const stored = await kind.read(scope, options.prune ? null : wanted.map(({ name }) => name))
    const owners = await readOwners(
      scope.tx,
      scope.ctx,
      kind.kind,
      stored.map(({ id }) => id),
    )
    const byName = new Map(stored.map((each) => [each.name, each]))
    for (const object of wanted) {
      const before = byName.get(object.name) ?? null
      steps.push(compare(kind, object, before, (before && owners.get(before.id)) ?? new Map(), options))
    }
    if (options.prune) steps.push(...deletions(kind, stored, new Set(wanted.map(({ name }) => name)), owners, options.owner))
  }
  return steps
}

async function readOwners(tx: Tx, ctx: Ctx, kind: KindName, ids: string[]): Promise<Map<string, Owners>> {
  const rows = await tx
    .select({
      ...{ id: manifestObjects.id, objectId: manifestObjects.objectId },
      ...{ owner: manifestObjects.owner, fields: manifestObjects.fields },
    })
    .from(manifestObjects)
    .where(
      and(visibleTo(ctx, manifestObjects), isOneOf(manifestObjects.kind, [kind], 'text'), isOneOf(manifestObjects.objectId, ids)),
    )
  const owners = new Map<string, Owners>()
  for (const { id, objectId, owner, fields } of rows) {
    const of = owners.get(objectId) ?? new Map()
    owners.set(objectId, of.set(owner, { id, fields }))
  }
  return owners
}

function compare(
  kind: Kind,
  object: ManifestObject,
  stored: Stored | null,
  owners: Owners,
  { owner, forceConflicts }: Options,
): Step {
  const before = flatten(kind, stored?.spec ?? {})
  const normalized = kind.normalize?.(object.spec, stored) ?? object.spec
  const given = flatten(kind, normalize(kind, normalized))
  // A value that normalization removed asks for the default.
  for (const key of Object.keys(object.spec))
    if (!(key in normalized) && object.spec[key] !== undefined) given.set(key, undefined)
  const own = owners.get(owner)?.fields ?? {}
  const others = (path: string) => [...owners].find(([name, { fields }]) => name !== owner && path in fields)?.[0]
  const after = new Map(before)
  const owned: OwnedFields = {}
  const conflicts: ManifestConflict[] = []
  const differing: string[] = []
  const conflict = (path: string, by: string | null, message: string) =>
    conflicts.push({ kind: kind.kind, name: object.name, path, owner: by, message })
  const change = (path: string, value: unknown) => {
    differing.push(path)
    if (value === undefined || (value === null && keyOf(kind, path) === path)) after.delete(path)
    else after.set(path, value)
  }
  for (const [path, wanted] of given) {
    owned[path] = digestOf(wanted)
    const current = before.get(path)
    if (hasValue(kind, path, current, wanted)) continue
    change(path, wanted)
    if (!stored || forceConflicts) continue
    const by = others(path)
    if (by !== undefined) conflict(path, by, `is owned by ${by}`)
    else if (path in own) {
      if (own[path] !== digestOf(current)) conflict(path, null, 'was changed outside of manifests')
    } else if (current !== undefined && !stored.isRetired) conflict(path, null, 'was set outside of manifests')
  }
  // Fields that the owner no longer gives return to their defaults, unless somebody else changed them meanwhile.
  for (const [path, digest] of Object.entries(own).sort())
    if (!given.has(path) && others(path) === undefined && before.has(path) && digestOf(before.get(path)) === digest)
      change(path, undefined)
  const blocked = stored?.unmanagedReason
  if (blocked && differing.length > 0) conflict('', null, blocked)
  if (object.resourceVersion !== null && object.resourceVersion !== (stored ? versionOf(before) : null))
    conflict(
      'metadata.resourceVersion',
      null,
      stored ? `is outdated; it is ${versionOf(before)} now` : 'belongs to an object that was deleted',
    )
  const spec = unflatten(kind, after)
  const changed: Spec = {}
  for (const path of differing) {
    const key = keyOf(kind, path)
    changed[key] = spec[key] ?? null
  }
  const action = !stored ? 'CREATE' : differing.length > 0 || stored.isRetired ? 'UPDATE' : 'UNCHANGED'
  const item = { name: object.name, stored, spec, changed }
  return { kind, item, object, action, before, after, differing, owned, owners, conflicts }
}

/** Without values that equal the defaults of the kind. */
function normalize(kind: Kind, spec: Spec): Spec {
  return Object.fromEntries(
    Object.entries(spec).map(([key, value]) => {
      const isDefault =
        key in (kind.defaults ?? {})
          ? isEqual(value, kind.defaults![key])
          : kind.raw?.includes(key)
            ? value == null
            : isEmpty(value)
      return [
        key,
        kind.maps?.includes(key)
          ? (value ?? {})
          : isDefault || value === null
            ? null
            : kind.raw?.includes(key)
              ? value
              : compact(value),
      ]
    }),
  )
}

/** Objects that only this owner applied earlier, and that are not in its manifests. */
function deletions(kind: Kind, stored: Stored[], kept: Set<string>, owners: Map<string, Owners>, owner: string): Step[] {
  return stored.flatMap((each): Step[] => {
    const of = owners.get(each.id)
    if (!of?.has(owner) || kept.has(each.name)) return []
    const before = flatten(kind, each.spec)
    const action = of.size === 1 && !each.isRetired && !each.unmanagedReason ? 'DELETE' : 'UNCHANGED'
    const item = { name: each.name, stored: each, spec: each.spec, changed: {} }
    return [{ kind, item, object: null, action, before, after: before, differing: [], owned: {}, owners: of, conflicts: [] }]
  })
}
