import { encodeGlobalID } from '@pothos/plugin-relay'
import {
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql'
import type { ApiContext } from './context.ts'

/** The completed value of a field that only exposes a property of `source`; undefined when the field must be executed as usual. */
type CompletedLeaf = (source: Record<string, unknown>) => unknown

/**
 * Saves work for fields of rows that are already loaded. Fields that expose a column or property skip their resolver. Fields that
 * compute a value from columns skip the search for the query plan. Most fields of a page are such fields. Their resolvers,
 * arguments and paths cost more than the statement that loads the page. The executor handles all other cases: a missing column,
 * a forbidden null, a value that its type rejects. patches/@graphql-tools__executor reads these extensions.
 */
export function readLoadedColumns(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!('getInterfaces' in type) || isProtected(type)) continue
    for (const field of Object.values((type as GraphQLObjectType).getFields())) {
      if (isProtected(field) || field.args.length > 0) continue
      const resolveLoaded = loadedResolverOf(field)
      if (resolveLoaded) field.extensions = { ...field.extensions, resolveLoaded }
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

/** The result of the field's resolver when the row has all columns and extras that the field selects; otherwise undefined. */
type ResolveLoaded = (row: Record<string, unknown>, context: ApiContext) => unknown

/** Null for fields that select relations or select by arguments, and for resolvers that read arguments or `info`. */
function loadedResolverOf({ extensions }: GraphQLField<unknown, ApiContext>): ResolveLoaded | null {
  const { select, resolve, errors } = (extensions.pothosOptions ?? {}) as FieldOptions
  if (typeof select !== 'object' || typeof resolve !== 'function' || resolve.length > 3 || errors) return null
  const { columns = {}, extras = {}, ...others } = select
  const names = [...Object.keys(columns), ...Object.keys(extras)]
  if (names.length === 0 || Object.keys(others).length > 0) return null
  return (row, context) => (names.every((name) => row[name] !== undefined) ? resolve(row, {}, context) : undefined)
}

type FieldOptions = {
  select?: Record<'columns' | 'extras', object> | ((...args: unknown[]) => unknown)
  resolve?: (row: unknown, args: object, context: ApiContext) => unknown
  errors?: unknown
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
