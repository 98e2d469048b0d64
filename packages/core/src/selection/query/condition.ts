import { and, or, type SQL, sql } from 'drizzle-orm'
import { type FieldName, fieldOf, type Kind, type NodeColumns } from './fields.ts'
import type { NodeQuery } from './parse.ts'

/**
 * The query as one condition on `n`. An unknown value matches no comparison, and so matches its `not`.
 * @param inGroup condition that a node is a member of one of the groups with these names
 */
export function nodeQueryCondition(query: NodeQuery, n: NodeColumns, inGroup: (names: string[]) => SQL): SQL {
  return condition(query, n, inGroup, undefined)
}

function condition(query: NodeQuery, n: NodeColumns, inGroup: (names: string[]) => SQL, counted: SQL | undefined): SQL {
  switch (query.kind) {
    case 'and': {
      const narrowed = and(counted, ...query.of.flatMap(identifying))
      return and(...query.of.map((part) => condition(part, n, inGroup, narrowed)))!
    }
    case 'or':
      return or(...query.of.map((part) => condition(part, n, inGroup, counted)))!
    case 'not':
      return sql`(${condition(query.of, n, inGroup, counted)}) is not true`
    case 'group':
      return inGroup(query.names)
    case 'field': {
      const { kind, holds, isOneOf } = fieldOf(query.field)
      const isEqual = query.operator === '=' || query.operator === 'in'
      if (isEqual && isOneOf) return isOneOf(n, query.values.map(String))
      return holds(n, (value) => comparison(kind, query, value), query.key, counted)
    }
  }
}

/** Fields that select the accelerators that `accelerator.count` counts. */
const IDENTIFYING: readonly FieldName[] = ['accelerator.vendor', 'accelerator.type', 'accelerator.model']

/**
 * Conditions on the accelerators that `accelerator.count` counts in the same conjunction: `accelerator.vendor = amd and
 * accelerator.count >= 8` matches a node with eight AMD accelerators.
 */
function identifying(query: NodeQuery): SQL[] {
  if (query.kind === 'and') return query.of.flatMap(identifying)
  if (query.kind !== 'field' || !IDENTIFYING.includes(query.field)) return []
  const { kind, accelerator } = fieldOf(query.field)
  return [comparison(kind, query, accelerator!)]
}

function comparison(kind: Kind, { operator, values }: Extract<NodeQuery, { kind: 'field' }>, value: SQL): SQL {
  const type = kind === 'number' || kind === 'bytes' ? 'numeric' : 'text'
  switch (operator) {
    case '=':
    case 'in':
      return sql`${value} = any(${sql.param(values)}::${sql.raw(type)}[])`
    case '~':
      return sql`${value} ilike ${likePattern(String(values[0]))}`
    default:
      return kind === 'version'
        ? sql`${numbersOf(value)} ${sql.raw(operator)} ${sql.param(String(values[0]).split('.'))}::numeric[]`
        : sql`${value} ${sql.raw(operator)} ${values[0]}::numeric`
  }
}

/** The leading numbers of a version, `570.124.06-1` as {570,124,6}. Arrays compare element by element. */
const numbersOf = (value: SQL): SQL => sql`string_to_array(substring(${value} from '([0-9]+([.][0-9]+)*)'), '.')::numeric[]`

/** With * or ?, a pattern for the whole text; otherwise matches a substring. */
function likePattern(text: string): string {
  const literal = text.replace(/[\\%_]/g, '\\$&')
  return /[*?]/.test(text) ? literal.replaceAll('*', '%').replaceAll('?', '_') : `%${literal}%`
}
