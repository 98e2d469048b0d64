import { and, or, type SQL, sql } from 'drizzle-orm'
import { fieldOf, type Kind, type NodeColumns } from './fields.ts'
import type { NodeQuery } from './parse.ts'

/**
 * The query as one condition on `n`. What is not known of a node fits no comparison, and so fits its `not`.
 * @param inGroup condition that a node is in one of the groups of these names
 */
export function nodeQueryCondition(query: NodeQuery, n: NodeColumns, inGroup: (names: string[]) => SQL): SQL {
  switch (query.kind) {
    case 'and':
      return and(...query.of.map((part) => nodeQueryCondition(part, n, inGroup)))!
    case 'or':
      return or(...query.of.map((part) => nodeQueryCondition(part, n, inGroup)))!
    case 'not':
      return sql`(${nodeQueryCondition(query.of, n, inGroup)}) is not true`
    case 'group':
      return inGroup(query.names)
    case 'field': {
      const { kind, holds, isOneOf } = fieldOf(query.field)
      const isEqual = query.operator === '=' || query.operator === 'in'
      if (isEqual && isOneOf) return isOneOf(n, query.values.map(String))
      return holds(n, (value) => comparison(kind, query, value), query.key)
    }
  }
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

/** The first numbers of a version, `570.124.06-1` as {570,124,6}: they compare one after the other. */
const numbersOf = (value: SQL): SQL => sql`string_to_array(substring(${value} from '([0-9]+([.][0-9]+)*)'), '.')::numeric[]`

/** With * or ? a pattern for the whole, else text that stands somewhere in it. */
function likePattern(text: string): string {
  const literal = text.replace(/[\\%_]/g, '\\$&')
  return /[*?]/.test(text) ? literal.replaceAll('*', '%').replaceAll('?', '_') : `%${literal}%`
}
