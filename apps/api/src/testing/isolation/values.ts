import { type GraphQLNamedType, isEnumType } from 'graphql'
import type { TypeName } from '../../graphql/shared/ids.ts'
import { FORMS, likelyTypes, MORE, TYPE_OF, VALUES } from './examples.ts'
import type { FilledTenant } from './fill-tenant.ts'
import { type Operation, type Slot, variablesOf } from './operations.ts'

type Named = Pick<FilledTenant, 'marker' | 'ids'>

/** Valid variables of generated operations. */
export function createValues() {
  /** The type whose IDs an argument takes, and which object of it, by the name of the slot; else they are guessed. */
  const known = new Map<string, { type: TypeName; index: number }>()
  let made = 0

  /** Values of required arguments, from the objects of the tenant. */
  const examplesOf =
    ({ name: operation }: Operation, { ids }: Named) =>
    (path: string[], type: GraphQLNamedType): unknown => {
      const name = path.at(-1)!
      if (type.name === 'ID') {
        const slot = `${operation}(${path.join('.')})`
        const found = known.get(slot)
        const likely = TYPE_OF[slot] ?? TYPE_OF[name] ?? likelyTypes(operation, path, Object.keys(ids) as TypeName[])[0]!
        return ids[found?.type ?? likely]![found?.index ?? 0]
      }
      if (name in VALUES) return VALUES[name]
      if (isEnumType(type)) return type.getValues()[0]!.name
      if (type.name === 'String') return `made${++made}`
      if (type.name === 'Boolean') return true
      if (type.name === 'DateTime') return new Date(Date.now() + 3600_000).toISOString()
      return type.name === 'JSON' ? {} : 1
    }

  /** Variables of the operation with the value at the slot, and all else from `tenant`. */
  function variablesFor(operation: Operation, tenant: Named, { slot, value }: { slot?: Slot; value?: string } = {}) {
    const form = slot && value && slot.kind === 'String' ? (FORMS[slot.path.at(-1)!]?.(value) ?? value) : value
    const given = inTenant(merge(MORE[operation.name] ?? {}, (slot && MORE[slot.name]) ?? {}), tenant) as Record<string, unknown>
    return {
      ...variablesOf(operation, examplesOf(operation, tenant), slot && { path: slot.path, value: form }, given),
      ...(operation.objectType ? { objectId: tenant.ids[operation.objectType]![0] } : {}),
    }
  }

  return { known, variablesFor }
}

/** Replaces `$marker` by the tenant's marker, and `$Type:1` by the ID of its second object of the type. */
function inTenant(value: unknown, tenant: Named): unknown {
  if (typeof value === 'string' && value.startsWith('$')) {
    const [type, index] = value.slice(1).split(':')
    return value === '$marker' ? tenant.marker : tenant.ids[type!]![Number(index)]
  }
  if (Array.isArray(value)) return value.map((each) => inTenant(each, tenant))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inTenant(each, tenant)]))
}

/** Objects merged deeply; undefined in `over` removes a value. */
function merge(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const result = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const before = result[key]
    const isNested = [before, value].every((each) => typeof each === 'object' && each !== null && !Array.isArray(each))
    result[key] = isNested ? merge(before as Record<string, unknown>, value as Record<string, unknown>) : value
    if (value === undefined) delete result[key]
  }
  return result
}
