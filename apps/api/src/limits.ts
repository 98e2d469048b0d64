import type { ComplexityErrorKind, ComplexityResult, FieldComplexityFunction } from '@pothos/plugin-complexity'
import { GraphQLError, type GraphQLOutputType, getNullableType, isListType } from 'graphql'
import type { ApiContext } from './context.ts'

export const MAX_PAGE = 500
export const DEFAULT_PAGE = 50
/** Fields that one operation may resolve, lists counted by their page size or, without one, as ten. */
export const MAX_COST = 250_000
export const MAX_DEPTH = 14
export const MAX_ALIASES = 50
export const MAX_TOKENS = 5000

/** A limit that the caller ran into; its message says which and what to do. */
export class LimitError extends GraphQLError {
  constructor(message: string) {
    super(message, { extensions: { code: 'LIMIT_EXCEEDED' } })
  }
}

type PageArgs = { first?: number | null; last?: number | null; after?: string | null; before?: string | null }

/** For `maxSize` of every connection: refuses a page that is too large rather than giving less than was asked for. */
export function maxPage(args: PageArgs): number {
  const asked = args.first ?? args.last ?? DEFAULT_PAGE
  if (asked > MAX_PAGE)
    throw new LimitError(`A page holds at most ${MAX_PAGE} objects; ${asked} were asked for. Page through with \`after\`.`)
  return MAX_PAGE
}

/** What a field costs: one, and for lists all below it times the number of items it can have. */
export const fieldCost: FieldComplexityFunction<ApiContext, Record<string, unknown>> = (args, _context, field) => {
  if (isConnection(field)) return { field: 1, multiplier: pageSize(args as PageArgs) }
  // The edges of a page are already counted by its connection.
  if (field.name === 'edges') return { field: 0, multiplier: 1 }
  if (!isListType(getNullableType(field.type))) return { field: 1, multiplier: 1 }
  return { field: 1, multiplier: typeof args.first === 'number' ? Math.max(0, args.first) : 10 }
}
const pageSize = ({ first, last }: PageArgs) => Math.min(MAX_PAGE, Math.max(0, first ?? last ?? DEFAULT_PAGE))
const isConnection = (field: { type: GraphQLOutputType }) => String(field.type).replace('!', '').endsWith('Connection')

export function tooCostly(
  kind: ComplexityErrorKind,
  { complexity, maxComplexity }: ComplexityResult & { maxComplexity?: number },
): Error {
  return new LimitError(
    `The operation is too costly: it can resolve ${complexity} fields, the limit (${kind.toLowerCase()}) is ${maxComplexity}. ` +
      'Ask for smaller pages or fewer nested lists.',
  )
}
