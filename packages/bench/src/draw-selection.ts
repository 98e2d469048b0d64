import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'

export type Random = () => number

type Field = GraphQLField<unknown, unknown>

/** Node type of a connection; null for other types. */
export function nodeTypeOf(type: unknown): GraphQLObjectType | null {
  if (!isObjectType(type) || !type.name.endsWith('Connection')) return null
  const edge = getNamedType(type.getFields().edges?.type)
  const node = isObjectType(edge) ? getNamedType(edge.getFields().node?.type) : undefined
  return isObjectType(node) ? node : null
}

/** Root fields that return a connection. */
export const listsOf = (schema: GraphQLSchema): string[] =>
  Object.values(schema.getQueryType()!.getFields())
    .filter((field) => !field.args.some(isRequiredArgument) && nodeTypeOf(getNamedType(field.type)))
    .map((field) => field.name)

const sample = <T>(random: Random, from: T[], count: number): T[] =>
  from
    .map((value) => ({ value, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ value }) => value)

/**
 * A query for a page of `list` with fields drawn at random, `$first` being the size of the page.
 * @param mayUse restricts the fields that are drawn from
 */
export function drawSelection(
  schema: GraphQLSchema,
  list: string,
  random: Random,
  mayUse: (type: GraphQLObjectType, field: Field) => boolean = () => true,
): string {
  const draw = (type: GraphQLObjectType, depth: number): string => {
    const fields = Object.values(type.getFields()).filter(
      (field) => !field.args.some(isRequiredArgument) && !field.deprecationReason && mayUse(type, field),
    )
    const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)))
    const objects = depth < 2 ? fields.filter((field) => isObjectType(getNamedType(field.type))) : []
    const drawn = [
      ...sample(random, leaves, 4 + Math.floor(random() * 6)).map(({ name }) => name),
      ...sample(random, objects, Math.floor(random() * 3)).map((field) => {
        const inner = getNamedType(field.type) as GraphQLObjectType
        const node = nodeTypeOf(inner)
        if (node) return `${field.name}(first: 3) { edges { node { ${draw(node, depth + 1)} } } }`
        const size =
          isListType(getNullableType(field.type)) && field.args.some(({ name }) => name === 'first') ? '(first: 3)' : ''
        return `${field.name}${size} { ${draw(inner, depth + 1)} }`
      }),
    ]
    return drawn.length > 0 ? drawn.join(' ') : '__typename'
  }
  const type = nodeTypeOf(getNamedType(schema.getQueryType()!.getFields()[list]!.type))!
  return `query Drawn($first: Int!) { ${list}(first: $first) { edges { node { ${draw(type, 0)} } } } }`
}
