import { InvalidInput } from '@muster/core/errors'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql'
import { MAX_LIST } from './limits.ts'

export type ListBound = { path: string[]; most: number }

/**
 * Lists in arguments, with the bounds that their descriptions state. The verbs validate arguments named `input`, so these are not
 * included.
 * @throws Error for a list that states no bound, or one above MAX_LIST
 */
export function listBoundsOf(args: readonly (GraphQLArgument | GraphQLInputField)[], parents: string[] = []): ListBound[] {
  return args.flatMap(({ name, type, description }): ListBound[] => {
    const path = [...parents, name]
    const nullable = getNullableType(type)
    if (isListType(nullable)) {
      const [, stated] = /\bat most ([\d,]+)/i.exec(description ?? '') ?? []
      if (!stated) throw new Error(`The description of the list ${path.join('.')} states no bound, such as "at most 500".`)
      const most = Number(stated.replaceAll(',', ''))
      if (path[0] !== 'input' && most > MAX_LIST)
        throw new Error(`The list ${path.join('.')} allows ${most} values; at most ${MAX_LIST} are possible.`)
      return [{ path, most }]
    }
    return isInputObjectType(nullable) && path[0] !== 'input' ? listBoundsOf(Object.values(nullable.getFields()), path) : []
  })
}

/** Makes queries and subscriptions reject lists that are longer than the description of the argument allows. */
export function enforceListBounds(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) enforce(field)
  }
  return schema
}

function enforce(field: GraphQLField<unknown, unknown>): void {
  const bounds = listBoundsOf(field.args)
  if (bounds.length === 0) return
  const start = field.subscribe ? 'subscribe' : 'resolve'
  const inner = field[start]!
  field[start] = (source, args, context, info) => {
    assertBounded(bounds, args)
    return inner(source, args, context, info)
  }
}

function assertBounded(bounds: ListBound[], args: Record<string, unknown>): void {
  const issues = bounds.flatMap(({ path, most }) => {
    const list = path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], args)
    return Array.isArray(list) && list.length > most
      ? [{ path: path.join('.'), message: `at most ${most} values are allowed; this has ${list.length}` }]
      : []
  })
  if (issues.length > 0) throw new InvalidInput(issues)
}
