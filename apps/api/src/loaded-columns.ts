import type { GraphQLObjectType, GraphQLSchema } from 'graphql'

/**
 * Makes fields that expose a column return it from the row when the row has it. The resolvers of the Drizzle plugin look up, field by
 * field, how the row was loaded, which costs most of the time of a large page; they still load columns that a row lacks.
 */
export function readLoadedColumns(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!('getInterfaces' in type)) continue
    for (const field of Object.values((type as GraphQLObjectType).getFields())) {
      const { pothosExposedField: column, pothosDrizzleSelect, pothosOptions } = field.extensions
      const isProtected = (pothosOptions as { authScopes?: unknown } | undefined)?.authScopes !== undefined
      if (typeof column !== 'string' || !pothosDrizzleSelect || isProtected || !field.resolve) continue
      const { resolve } = field
      field.resolve = (row, args, context, info) => {
        const value = (row as Record<string, unknown>)[column]
        return value === undefined ? resolve(row, args, context, info) : value
      }
    }
  }
  return schema
}
