import { GraphQLError, Kind, valueFromASTUntyped } from 'graphql'
import { builder } from '../../builder.ts'

builder.scalarType('DateTime', {
  description: 'Timestamp in ISO 8601 with time zone, for example `2026-11-20T12:00:00.000Z`.',
  serialize: (value) => (value instanceof Date ? value : new Date(value as string)).toISOString(),
  parseValue: (value) => {
    const date = new Date(typeof value === 'string' ? value : Number.NaN)
    if (Number.isNaN(date.getTime()))
      throw new GraphQLError('DateTime must be an ISO 8601 string, for example 2026-11-20T12:00:00Z.')
    return date
  },
})

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (ast, variables) => valueFromASTUntyped(ast, variables),
})

const isSafeInteger = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value)

const rangeError = () => new GraphQLError('BigInt must be an integer from -(2^53 - 1) to 2^53 - 1.')

builder.scalarType('BigInt', {
  description:
    'Integer from -(2^53 - 1) to 2^53 - 1, encoded as a JSON number. Used where 32 bits are not enough, for example sizes in bytes.',
  serialize: (value) => {
    const number = typeof value === 'number' ? value : Number(value)
    if (!isSafeInteger(number)) throw rangeError()
    return number
  },
  parseValue: (value) => {
    if (!isSafeInteger(value)) throw rangeError()
    return value
  },
  parseLiteral: (ast) => {
    const value = ast.kind === Kind.INT ? Number(ast.value) : null
    if (!isSafeInteger(value)) throw rangeError()
    return value
  },
})
