import { encodeGlobalID } from '@pothos/plugin-relay'
import {
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql'

/** The completed value of a field that only exposes a property of `source`; undefined when the field must be executed as usual. */
type CompletedLeaf = (source: Record<string, unknown>) => unknown

/**
 * Skips the resolver of fields that only expose a column or property when the row already has the value. Most fields of a page are
 * such fields, and their resolvers, arguments and paths cost more than the statement that loads the page. The executor handles all
 * other cases: a missing column, a forbidden null, a value that its type rejects. patches/@graphql-tools__executor calls this.
 */
export function readLoadedColumns(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!('getInterfaces' in type) || isProtected(type)) continue
    for (const field of Object.values((type as GraphQLObjectType).getFields())) {
      if (isProtected(field) || field.args.length > 0) continue
      const { pothosExposedField: name } = field.extensions
      const complete = typeof name === 'string' ? completerOf(field.type) : null
      const completedLeaf: CompletedLeaf | null = complete
        ? (row) => complete(row[name as string])
        : field.name === 'id' && isKeyedById(type as GraphQLObjectType)
          ? (row) => (typeof row.id === 'string' ? encodeGlobalID(type.name, row.id) : undefined)
          : null
      if (completedLeaf) field.extensions = { ...field.extensions, completedLeaf }
    }
  }
  return schema
}

/** Whether it is a Relay node of a table with the primary key `id`. */
const isKeyedById = (type: GraphQLObjectType): boolean =>
  type.getInterfaces().some(({ name }) => name === 'Node') &&
  (type.extensions.pothosDrizzleTable as { table?: { id?: { primary: boolean } } } | undefined)?.table?.id?.primary === true

const isProtected = ({ extensions }: { extensions: { pothosOptions?: unknown } }): boolean =>
  (extensions.pothosOptions as { authScopes?: unknown } | undefined)?.authScopes !== undefined

/** Completes a value as the executor does, or returns undefined. Null for types that are neither leaves nor lists of leaves. */
function completerOf(type: GraphQLOutputType): ((value: unknown) => unknown) | null {
  const inner = getNullableType(type)
  const complete = isLeafType(inner) ? leafCompleter(inner) : isListType(inner) ? listCompleter(inner.ofType) : null
  if (!complete) return null
  const ifNull = isNonNullType(type) ? undefined : null
  return (value) => (value === null ? ifNull : value === undefined ? undefined : complete(value))
}

const leafCompleter = (type: GraphQLLeafType) => (value: unknown) => {
  if (typeof value === 'function' || value instanceof Error || value instanceof Promise) return undefined
  try {
    return type.serialize(value) ?? undefined
  } catch {
    return undefined
  }
}

function listCompleter(itemType: GraphQLOutputType) {
  const complete = completerOf(itemType)
  if (!complete) return null
  return (values: unknown) => {
    if (!Array.isArray(values)) return undefined
    const completed = values.map(complete)
    return completed.includes(undefined) ? undefined : completed
  }
}
