import { GraphQLError, Kind, valueFromASTUntyped } from 'graphql'
import { builder } from '../../builder.ts'

builder.scalarType('DateTime', {
  description: 'A point in time, ISO 8601 with zone: `2026-11-20T12:00:00.000Z`.',
  serialize: (value) => (value instanceof Date ? value : new Date(value as string)).toISOString(),
  parseValue: (value) => {
    const date = new Date(typeof value === 'string' ? value : Number.NaN)
    if (Number.isNaN(date.getTime())) throw new GraphQLError('DateTime must be ISO 8601 text, for example 2026-11-20T12:00:00Z.')
    return date
  },
})

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (ast, variables) => valueFromASTUntyped(ast, variables),
})

const isWhole = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value)

const wrong = () => new GraphQLError('BigInt must be a whole number between -2^53 and 2^53.')

builder.scalarType('BigInt', {
  description: 'A whole number up to 2^53, as a JSON number. Sizes in bytes and positions in logs go beyond 32 bits.',
  serialize: (value) => {
    const number = typeof value === 'number' ? value : Number(value)
    if (!isWhole(number)) throw wrong()
    return number
  },
  parseValue: (value) => {
    if (!isWhole(value)) throw wrong()
    return value
  },
  parseLiteral: (ast) => {
    const value = ast.kind === Kind.INT ? Number(ast.value) : null
    if (!isWhole(value)) throw wrong()
    return value
  },
})
