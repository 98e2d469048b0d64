import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql'
import { schema } from '../../schema.ts'

/** An argument, or a field of an input object in one, that can name something of another tenant. */
export type Slot = { name: string; path: string[]; kind: 'ID' | 'String' }

export type Operation = {
  /** Such as `Query.nodes` or `JobRun.events`. */
  name: string
  root: 'Query' | 'Mutation' | 'Subscription'
  /** Type of the object that has the field; null for a root field. The variable `objectId` names the object. */
  objectType: string | null
  args: readonly GraphQLArgument[]
  document: string
  slots: Slot[]
  isConnection: boolean
}

const PAGING = ['first', 'last', 'after', 'before']
/** Objects in each list of the generated selections. */
const PAGE = 3
/** Levels of fields in an operation; the limit of the API is 14. */
const DEPTH = 9

/** Each root field, and each field of an object that has arguments which can name an object. */
export function operationsOf(root: 'Query' | 'Mutation' | 'Subscription'): Operation[] {
  const type = schema.getType(root)
  if (!isObjectType(type)) return []
  return Object.values(type.getFields()).flatMap((field) => {
    const result = getNamedType(field.type)
    // One operation per type: together they exceed the limits.
    if (isInterfaceType(result)) return schema.getPossibleTypes(result).map((member) => operationOf(root, null, field, member))
    return operationOf(root, null, field)
  })
}

export function nestedOperations(): Operation[] {
  const roots = ['Query', 'Mutation', 'Subscription']
  return Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !roots.includes(type.name) && !type.name.startsWith('__'))
    .flatMap((type) =>
      Object.values((type as { getFields(): Record<string, GraphQLField<unknown, unknown>> }).getFields())
        .filter(({ args }) => slotsOf(args).some(({ path }) => !PAGING.includes(path[0]!) || hasId(type as GraphQLNamedType)))
        .map((field) => operationOf('Query', type as GraphQLNamedType, field)),
    )
}

const hasId = (type: GraphQLNamedType) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node')

function operationOf(
  root: Operation['root'],
  objectType: GraphQLNamedType | null,
  field: GraphQLField<unknown, unknown>,
  member?: GraphQLObjectType,
): Operation {
  const name = `${objectType?.name ?? root}.${field.name}${member ? `:${member.name}` : ''}`
  const declared = field.args.map((arg) => `$${arg.name}: ${arg.type}`)
  const passed = field.args.map((arg) => `${arg.name}: $${arg.name}`)
  if (objectType) {
    if (!hasId(objectType))
      throw new Error(
        `${name} has arguments, but its type has no ID. Extend nestedOperations in testing/isolation/operations.ts.`,
      )
    declared.push('$objectId: ID!')
  }
  const call = `${field.name}${passed.length ? `(${passed.join(', ')})` : ''} ${member ? `{ ... on ${member.name} ${selectionOf(member, 1)} }` : selectionOf(field.type, field.type.toString().endsWith('Connection!') ? 3 : 1)}`
  const body = objectType ? `node(id: $objectId) { ... on ${objectType.name} { ${call} } }` : call
  return {
    name,
    root,
    objectType: objectType?.name ?? null,
    args: field.args,
    document: `${root.toLowerCase()}${declared.length ? `(${declared.join(', ')})` : ''} { ${body} }`,
    slots: slotsOf(field.args.filter((arg) => !PAGING.includes(arg.name))).map((slot) => ({
      ...slot,
      name: `${name}(${slot.path.join('.')})`,
    })),
    isConnection: field.type.toString().endsWith('Connection!'),
  }
}

function slotsOf(inputs: readonly (GraphQLArgument | GraphQLInputField)[], path: string[] = []): Omit<Slot, 'name'>[] {
  return inputs.flatMap((input) => {
    const type = getNamedType(input.type)
    const own = [...path, input.name]
    if (isInputObjectType(type)) return slotsOf(Object.values(type.getFields()), own)
    return type.name === 'ID' || type.name === 'String' ? [{ path: own, kind: type.name }] : []
  })
}

type Selection = Map<string, Selection | null>

/** Types whose fields an earlier operation selects. */
const covered = new Set<string>()

/**
 * Selects fields of the type that are reachable. An operation expands each object type once, where it is nearest to the root; beyond
 * `near` levels only types that no earlier operation expands, because all operations together select each field.
 */
function selectionOf(type: GraphQLOutputType, near: number): string {
  const named = getNamedType(type)
  if (!isCompositeType(named)) return ''
  const expanded = new Set<string>()
  const root: Selection = new Map()
  let level: { type: GraphQLNamedType; into: Selection }[] = [{ type: named, into: root }]
  for (let depth = 1; level.length; depth++) {
    const next: typeof level = []
    for (const { type, into } of level) expand(type, into, depth, next)
    level = next
  }
  function expand(type: GraphQLNamedType, into: Selection, depth: number, next: typeof level): void {
    if (isAbstractType(type)) {
      into.set('__typename', null)
      const possible = schema.getPossibleTypes(type)
      for (const member of possible) {
        const fragment: Selection = new Map()
        into.set(`... on ${member.name}`, fragment)
        expand(member, fragment, depth, next)
        alias(fragment, member.name, possible)
      }
      return
    }
    if (!isObjectType(type)) return
    const again = expanded.has(type.name) || (depth > near && covered.has(type.name))
    expanded.add(type.name)
    if (!again) covered.add(type.name)
    into.set('__typename', null)
    for (const field of Object.values(type.getFields())) {
      const result = getNamedType(field.type)
      if (!isCompositeType(result)) {
        if (!again || field.name === 'id') into.set(field.name, null)
      } else if (!again && depth < DEPTH && !field.args.some(isRequiredArgument)) {
        const inner: Selection = new Map()
        const paged = field.args.some((arg) => arg.name === 'first')
        into.set(`${field.name}${paged ? `(first: ${PAGE})` : ''}`, inner)
        next.push({ type: result, into: inner })
      }
    }
  }
  return print(root)
}

/** Renames fields that have different types in the members of a union. */
function alias(
  fragment: Selection,
  member: string,
  possible: readonly { name: string; getFields(): Record<string, GraphQLField<unknown, unknown>> }[],
): void {
  const own = possible.find(({ name }) => name === member)!.getFields()
  for (const [key, inner] of [...fragment]) {
    const field = key.replace(/\(.*/, '')
    const types = new Set(possible.map((type) => type.getFields()[field]?.type.toString()).filter(Boolean))
    if (!own[field] || types.size < 2) continue
    fragment.delete(key)
    fragment.set(`${member}_${field}: ${key}`, inner)
  }
}

const print = (selection: Selection): string =>
  `{ ${[...selection].map(([key, inner]) => (inner ? `${key} ${print(inner)}` : key)).join(' ')} }`

/** Value of an argument that is not the tested one. */
type Example = (path: string[], type: GraphQLNamedType) => unknown

/** Variables with all required values, those of `more`, and `value` at the slot. */
export function variablesOf(
  { args, isConnection }: Operation,
  example: Example,
  slot?: { path: string[]; value: unknown },
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const variables: Record<string, unknown> = isConnection ? { first: PAGE } : {}
  for (const arg of args) {
    const rest = slot?.path[0] === arg.name ? slot.path.slice(1) : undefined
    if (rest || isRequiredArgument(arg) || arg.name in more)
      variables[arg.name] = inputValue(arg.type, [arg.name], rest, slot?.value, example, more[arg.name])
  }
  return variables
}

function inputValue(
  type: GraphQLInputType,
  path: string[],
  rest: string[] | undefined,
  value: unknown,
  example: Example,
  more: unknown,
): unknown {
  if (isNonNullType(type)) return inputValue(type.ofType, path, rest, value, example, more)
  if (isListType(type))
    return more !== undefined && !rest
      ? more
      : [inputValue(type.ofType, path, rest, value, example, Array.isArray(more) ? more[0] : undefined)]
  if (rest?.length === 0) return value
  if (!isInputObjectType(type)) return more ?? example(path, getNamedType(type))
  const given = (more ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    Object.values(type.getFields())
      .filter((field) => isRequiredInputField(field) || rest?.[0] === field.name || field.name in given)
      .map((field) => [
        field.name,
        inputValue(
          field.type,
          [...path, field.name],
          rest?.[0] === field.name ? rest.slice(1) : undefined,
          value,
          example,
          given[field.name],
        ),
      ]),
  )
}
