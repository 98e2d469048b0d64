import { schema as tables } from '@muster/core/db'
import { getColumns, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql'

/** A type whose plain fields are columns of a table, and its plain lists, as the resolvers of graphql/ read them. */
type Shape = { table: PgTable; alias: string; lists: Record<string, { type: string; from: string; order: string }> }

const SHAPES: Record<string, Shape> = {
  ComputeNode: {
    table: tables.computeNodes,
    alias: 'n',
    lists: {
      accelerators: { type: 'Accelerator', from: 'accelerators a where a.node_id = n.id', order: 'a.index, a.id' },
      groups: {
        type: 'NodeGroup',
        from: 'node_group_members m join node_groups g on g.id = m.group_id where m.node_id = n.id',
        order: 'g.priority, g.name',
      },
    },
  },
  Accelerator: { table: tables.accelerators, alias: 'a', lists: {} },
  NodeGroup: { table: tables.nodeGroups, alias: 'g', lists: {} },
}

/** Postgres cuts longer names, and they name the keys of the JSON that it makes. */
const LONGEST_KEY = 63

type Fields = Map<string, FieldNode[]>
type Fragments = Record<string, FragmentDefinitionNode>

/** Thrown inside this file: the selection asks for something that only resolvers can give. */
class NotPlain extends Error {}

/** How to answer: `columns` give one node; the rest are keys of the answer with the names of their fields, in order. */
export type PagePlan = {
  root: FieldNode
  key: string
  columns: SQL
  connection: Map<string, string>
  edge: Map<string, string>
  pageInfo: Map<string, string>
  /** Fields resolved per node, lists counted as ten. */
  cost: number
  /** Whether groups are asked for: `columns` know those that nodes were put into by hand only. */
  hasGroups: boolean
}

/**
 * How one statement can give the whole answer to an operation that asks for a page of nodes: plain columns, accelerators and
 * groups. Null when it asks for anything else; resolvers answer that.
 */
export function planPage(schema: GraphQLSchema, selections: SelectionSetNode, fragments: Fragments): PagePlan | null {
  try {
    const [key, root] = only(collect([selections], 'Query', fragments), 'nodes')
    const connection = collect(below([root]), 'ComputeNodeConnection', fragments)
    const edge = collect(below(named(connection, 'edges')), 'ComputeNodeEdge', fragments)
    const pageInfo = collect(below(named(connection, 'pageInfo')), 'PageInfo', fragments)
    const node = collect(below(named(edge, 'node')), 'ComputeNode', fragments)
    const { text, cost } = columns(schema, 'ComputeNode', node, fragments)
    return {
      root,
      key,
      columns: sql.raw(text),
      connection: names(connection),
      edge: names(edge),
      pageInfo: names(pageInfo),
      cost,
      hasGroups: [...node.values()].some(([field]) => field!.name.value === 'groups'),
    }
  } catch (error) {
    if (error instanceof NotPlain) return null
    throw error
  }
}

const below = (fields: FieldNode[]) => fields.flatMap((field) => field.selectionSet ?? [])
const names = (fields: Fields) => new Map([...fields].map(([key, [field]]) => [key, field!.name.value]))

function only(fields: Fields, name: string): [string, FieldNode] {
  const [[key, nodes] = ['', []], ...others] = [...fields]
  if (others.length > 0 || nodes.length !== 1 || nodes[0]!.name.value !== name) throw new NotPlain()
  return [key, nodes[0]!]
}

/** The fields of that name, which may stand under one key only: under two they could ask for different things. */
function named(fields: Fields, name: string): FieldNode[] {
  const found = [...fields.values()].filter(([field]) => field!.name.value === name)
  if (found.length > 1) throw new NotPlain()
  return found[0] ?? []
}

/** Fields by their key in the answer. Everything conditional, and fragments on other types, is not plain. */
function collect(sets: SelectionSetNode[], type: string, fragments: Fragments, into: Fields = new Map()): Fields {
  for (const selection of sets.flatMap((set) => set.selections)) {
    if (selection.directives?.length) throw new NotPlain()
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value
      if (key.length > LONGEST_KEY) throw new NotPlain()
      into.set(key, [...(into.get(key) ?? []), selection])
      continue
    }
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
    if (!fragment || (fragment.typeCondition?.name.value ?? type) !== type) throw new NotPlain()
    collect([fragment.selectionSet], type, fragments, into)
  }
  return into
}

/** The fields of `typeName` as a list of SQL columns named by their keys. */
function columns(schema: GraphQLSchema, typeName: string, fields: Fields, fragments: Fragments): { text: string; cost: number } {
  const { alias, lists } = SHAPES[typeName]!
  const type = schema.getType(typeName) as GraphQLObjectType
  let cost = 0
  const texts: string[] = []
  for (const [key, nodes] of fields) {
    const field = nodes[0]!
    const name = field.name.value
    if (field.arguments?.length) throw new NotPlain()
    const list = lists[name]
    if (list) {
      const inner = columns(schema, list.type, collect(below(nodes), list.type, fragments), fragments)
      cost += 1 + 10 * inner.cost
      texts.push(
        `(select coalesce(json_agg(i), '[]') from (select ${inner.text} from ${list.from} order by ${list.order}) i) as "${key}"`,
      )
    } else {
      cost += 1
      texts.push(`${leaf(type, name, alias)} as "${key}"`)
    }
  }
  return { text: texts.join(', '), cost }
}

function leaf(type: GraphQLObjectType, name: string, alias: string): string {
  if (name === '__typename') return `'${type.name}'`
  // As the relay plugin makes ids.
  if (name === 'id') return `translate(encode(convert_to('${type.name}:' || ${alias}.id, 'UTF8'), 'base64'), E'\\n', '')`
  const field = type.getFields()[name]!
  const exposed = field.extensions.pothosExposedField
  const column = typeof exposed === 'string' ? getColumns(SHAPES[type.name]!.table)[exposed] : undefined
  if (!column) throw new NotPlain()
  const value = `${alias}."${column.name}"`
  const named = getNamedType(field.type)
  if (isObjectType(named)) throw new NotPlain()
  // As Date.toISOString writes it.
  if (named.name === 'DateTime') return `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  if (!isEnumType(named)) return value
  const values = named.getValues()
  if (values.every((each) => each.value === each.name)) return value
  if (values.every((each) => each.value === each.name.toLowerCase())) return `upper(${value})`
  throw new NotPlain()
}
