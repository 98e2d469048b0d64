import { createContextCache } from '@pothos/core'
import type { ComplexityErrorKind, ComplexityResult, FieldComplexityFunction } from '@pothos/plugin-complexity'
import { GraphQLError, type GraphQLOutputType, getNullableType, isListType } from 'graphql'
import type { ApiContext } from './context.ts'

export const MAX_PAGE = 500
export const DEFAULT_PAGE = 50
/** Fields that one operation may resolve; a list counts by its page size, or as ten without one. */
export const MAX_COST = 250_000
export const MAX_DEPTH = 14
export const MAX_ALIASES = 50
export const MAX_TOKENS = 5000
/** Bytes in the body of a request. Uploads need that many. */
export const MAX_BODY_BYTES = 25_000_000
/** Bytes in the body of a request of a caller who is not signed in. */
export const MAX_ANONYMOUS_BODY_BYTES = 1_000_000
/** Bytes of the events on one page; a page has at least one event. */
export const MAX_PAGE_BYTES = 1_000_000
/** Bytes of logs, evidence and facts in one response. */
export const MAX_RESPONSE_BYTES = 20_000_000
/** Values of a list in the arguments of a query or subscription. */
export const MAX_LIST = 500
/** Operations that are open at once on one WebSocket. */
export const MAX_SUBSCRIPTIONS = 100
/** Queries and mutations of one caller that execute at once. More wait for their turn. */
export const MAX_CONCURRENT = 10
/** Queries and mutations of one caller that are in progress, including waiting ones. */
export const MAX_OPERATIONS = 200
/** Open subscriptions of one caller, over all connections. */
export const MAX_CALLER_SUBSCRIPTIONS = 5000
/** Downloads, exports and reads of other endpoints than /graphql that one caller has in progress. */
export const MAX_READS = 20
/** Message of status 429 for more reads. */
export const TOO_MANY_READS = `At most ${MAX_READS} reads of a caller are in progress at once. Wait for responses before sending more requests.`
/** Requests of one caller with a body above MAX_ANONYMOUS_BODY_BYTES that are in progress. */
export const MAX_LARGE_BODIES = 4
/** Requests above a limit that one caller may send at once. Then all its requests follow one another at REJECTIONS_PER_SECOND. */
export const MAX_REJECTIONS = 20
export const REJECTIONS_PER_SECOND = 10
/** WebSockets of one client network that are not signed in. */
export const MAX_ANONYMOUS_SOCKETS = 64

export type Limit =
  | 'BODY'
  | 'DEPTH'
  | 'ALIASES'
  | 'TOKENS'
  | 'COST'
  | 'PAGE'
  | 'BYTES'
  | 'OPERATIONS'
  | 'SUBSCRIPTIONS'
  | 'CALLER_SUBSCRIPTIONS'
  | 'LARGE_BODIES'
  | 'REJECTIONS'
const NOUNS: Record<Limit, string> = {
  BODY: 'bytes in a request',
  DEPTH: 'levels of fields',
  ALIASES: 'aliases',
  TOKENS: 'tokens',
  COST: 'resolved fields',
  PAGE: 'objects on a page',
  BYTES: 'bytes of logs, evidence and facts in a response',
  OPERATIONS: 'operations of a caller in progress',
  SUBSCRIPTIONS: 'open operations on a connection',
  CALLER_SUBSCRIPTIONS: 'open subscriptions of a caller',
  LARGE_BODIES: 'large requests of a caller in progress',
  REJECTIONS: 'requests above limits at once',
}

/** An operation exceeds a limit. Its extensions are `code`, `limit` (the limit's name), `maximum` and `actual` (null when not counted to the end). */
export class LimitError extends GraphQLError {
  constructor(limit: Limit, maximum: number, actual: number | null, nextStep: string) {
    const excess = actual === null ? 'this has more' : `this has ${actual}`
    super(`At most ${maximum} ${NOUNS[limit]} are allowed; ${excess}. ${nextStep}`, {
      extensions: { code: 'LIMIT_EXCEEDED', limit, maximum, actual },
    })
  }
}

export const isLimitError = ({ extensions }: GraphQLError): boolean => extensions.code === 'LIMIT_EXCEEDED'

const ARMOR_MESSAGE = /\b(depth|aliases|token) limit of (\d+) exceeded(?:, found (\d+))?/i
const ARMOR_LIMITS: Record<string, [Limit, string]> = {
  depth: ['DEPTH', 'Split the operation.'],
  aliases: ['ALIASES', 'Split the operation.'],
  token: ['TOKENS', 'Split the operation, or move values to variables.'],
}

/** An error of graphql-armor in the form of LimitError; null for other errors. */
export function armorLimitError(error: unknown): LimitError | null {
  const [, name, maximum, actual] = ARMOR_MESSAGE.exec(error instanceof Error ? error.message : '') ?? []
  const [limit, nextStep] = (name && ARMOR_LIMITS[name.toLowerCase()]) || []
  return limit ? new LimitError(limit, Number(maximum), actual === undefined ? null : Number(actual), nextStep!) : null
}

const responseSizes = createContextCache((_context: ApiContext) => ({ bytes: 0 }))

/** Counts large values of a response. Call it before the value is produced, where its size is known. @throws LimitError */
export function countBytes(context: ApiContext, bytes: number): void {
  const size = responseSizes(context)
  size.bytes += bytes
  if (size.bytes > MAX_RESPONSE_BYTES)
    throw new LimitError('BYTES', MAX_RESPONSE_BYTES, size.bytes, 'Request smaller pages or fewer of these fields.')
}

type PageArgs = { first?: number | null; last?: number | null; after?: string | null; before?: string | null }

/** `maxSize` of every connection: a page that is too large is rejected, not shortened. */
export function maxPage(args: PageArgs): number {
  const size = args.first ?? args.last ?? DEFAULT_PAGE
  if (size > MAX_PAGE) throw new LimitError('PAGE', MAX_PAGE, size, 'Page with `after`.')
  return MAX_PAGE
}

/** The cost of a field is one; fields inside a list count once per item. */
export const fieldCost: FieldComplexityFunction<ApiContext, Record<string, unknown>> = (args, _context, field) => {
  if (isConnection(field)) return { field: 1, multiplier: pageSize(args as PageArgs) }
  // The connection already counts its edges.
  if (field.name === 'edges') return { field: 0, multiplier: 1 }
  if (!isListType(getNullableType(field.type))) return { field: 1, multiplier: 1 }
  return { field: 1, multiplier: typeof args.first === 'number' ? Math.max(0, args.first) : 10 }
}
const pageSize = ({ first, last }: PageArgs) => Math.min(MAX_PAGE, Math.max(0, first ?? last ?? DEFAULT_PAGE))
const isConnection = (field: { type: GraphQLOutputType }) => String(field.type).replace('!', '').endsWith('Connection')

export function tooCostly(
  _kind: ComplexityErrorKind,
  { complexity, maxComplexity }: ComplexityResult & { maxComplexity?: number },
): Error {
  return new LimitError('COST', maxComplexity ?? MAX_COST, complexity, 'Request smaller pages or fewer nested lists.')
}
