import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from 'graphql'
import { nodeTypeOf } from './draw-selection.ts'

/** `asked`: number of leaf fields in our query; `expressed`: number of them in the translation. */
export type Translation = { query: string; list: string; asked: number; expressed: number }

/** What a connection of PostGraphile lists. */
function listedBy(type: unknown): GraphQLObjectType | null {
  const nodes = isObjectType(type) && type.name.endsWith('Connection') ? getNamedType(type.getFields().nodes?.type) : undefined
  return isObjectType(nodes) ? nodes : null
}

/**
 * The field of PostGraphile's type that corresponds to our field: a column of the same name, or the relation to the type of the same
 * name, chosen by its foreign key when there are several. Null when there is none.
 */
export function peerField(peer: GraphQLObjectType, name: string, target: { name: string } | null): string | null {
  const fields = Object.values(peer.getFields())
  if (!target) return fields.some((field) => field.name === name && isLeafType(getNamedType(field.type))) ? name : null
  const candidates = fields.filter((field) => {
    const type = getNamedType(field.type)
    return type.name === target.name || listedBy(type)?.name === target.name
  })
  const key = `By${name[0]!.toUpperCase()}${name.slice(1)}Id`
  const chosen = candidates.find((field) => field.name.endsWith(key)) ?? (candidates.length === 1 ? candidates[0] : undefined)
  return chosen?.name ?? null
}

/** Our query for PostGraphile over the same tables, without the fields that it cannot express. Null when it lacks the list itself. */
export function toPostgraphile(query: string, ours: GraphQLSchema, theirs: GraphQLSchema): Translation | null {
  const { definitions } = parse(query)
  const operation = definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION)!
  const fragments = new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  )
  const root = operation.selectionSet.selections[0] as FieldNode
  const connection = getNamedType(ours.getQueryType()!.getFields()[root.name.value]!.type)
  const listed = nodeTypeOf(connection)
  const list = Object.values(theirs.getQueryType()!.getFields()).find(
    ({ name, type }) => name.startsWith('all') && listed && listedBy(getNamedType(type))?.name === listed.name,
  )
  if (!list || !isObjectType(connection)) return null

  let [asked, expressed] = [0, 0]
  const fieldsOf = (set: SelectionSetNode): FieldNode[] =>
    set.selections.flatMap((each) => {
      if (each.kind === Kind.FIELD) return [each]
      if (each.kind === Kind.INLINE_FRAGMENT) return fieldsOf(each.selectionSet)
      return fieldsOf((fragments.get(each.name.value) as FragmentDefinitionNode).selectionSet)
    })
  const translate = (set: SelectionSetNode, type: GraphQLObjectType, peer: GraphQLObjectType | null): string =>
    fieldsOf(set)
      .map((field): string => {
        const name = field.name.value
        if (name === '__typename') return name
        const inner = getNamedType(type.getFields()[name]!.type)
        const node = nodeTypeOf(inner)
        if (!isObjectType(inner)) {
          asked++
          const same = peer && peerField(peer, name, null)
          if (same) expressed++
          return same ?? ''
        }
        // Connections, their edges and their page information are alike.
        const isPart = /(Connection|Edge)$/.test(type.name)
        const peerName = peer && (isPart ? (peer.getFields()[name] ? name : null) : peerField(peer, name, node ?? inner))
        const peerType = peerName ? getNamedType(peer!.getFields()[peerName]!.type) : null
        const listed = isPart || node ? null : listedBy(peerType)
        const text = translate(field.selectionSet!, inner, listed ?? (isObjectType(peerType) ? peerType : null))
        if (!peerName) return ''
        const body = text.trim() || '__typename'
        const size = node ? '(first: 3)' : ''
        return listed ? `${peerName} { nodes { ${body} } }` : `${peerName}${size} { ${body} }`
      })
      .join(' ')
  const body = translate(root.selectionSet!, connection, getNamedType(list.type) as GraphQLObjectType)
  return { query: `query Drawn($first: Int!) { ${list.name}(first: $first) { ${body} } }`, list: list.name, asked, expressed }
}
