import {
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql'
import { createYoga } from 'graphql-yoga'
import { expect, test } from 'vitest'
import { readLoadedColumns } from './loaded-columns.ts'

const required = (type: GraphQLOutputType) => new GraphQLNonNull(type as typeof GraphQLString)

async function ask(schema: GraphQLSchema, query: string) {
  const yoga = createYoga({ schema, logging: false, maskedErrors: false })
  const response = await yoga.fetch('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return (await response.json()) as { data: unknown; errors?: { message: string; path: unknown }[] }
}

/** The answer to `query` when the only row is `row`, and the fields that were resolved because the row did not complete them. */
async function answer(query: string, row: Record<string, unknown>, options: { authScopes?: object } = {}) {
  const resolved: string[] = []
  const exposed = (name: string, type: GraphQLOutputType) => ({
    type,
    extensions: { pothosExposedField: name, pothosOptions: options },
    resolve: (source: Record<string, unknown>) => {
      resolved.push(name)
      return source[name] === undefined ? 'loaded' : source[name]
    },
  })
  const type = new GraphQLObjectType({
    name: 'Row',
    fields: {
      name: exposed('name', required(GraphQLString)),
      note: exposed('note', GraphQLString),
      size: exposed('size', GraphQLInt),
      tags: exposed('tags', required(new GraphQLList(required(GraphQLString)))),
    },
  })
  const rows = { type, resolve: () => row }
  const schema = readLoadedColumns(new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { row: rows } }) }))
  const { data, errors } = await ask(schema, query)
  return { data, errors: errors?.map(({ message, path }) => ({ message, path })), resolved }
}

test('completes exposed columns that the row has without their resolvers', async () => {
  const row = { name: 'a', note: null, size: 3, tags: ['x', 'y'] }
  expect(await answer('{ row { name other: name note size tags __typename } }', row)).toEqual({
    data: { row: { name: 'a', other: 'a', note: null, size: 3, tags: ['x', 'y'], __typename: 'Row' } },
    errors: undefined,
    resolved: [],
  })
})

test('resolves a column that the row lacks', async () => {
  const { data, resolved } = await answer('{ row { name note } }', { name: 'a' })
  expect({ data, resolved }).toEqual({ data: { row: { name: 'a', note: 'loaded' } }, resolved: ['note'] })
})

test('resolves a field that has its own authorization', async () => {
  const { resolved } = await answer('{ row { name } }', { name: 'a' }, { authScopes: { authenticated: true } })
  expect(resolved).toEqual(['name'])
})

test('answers with the usual errors for values that the type rejects', async () => {
  const { data, errors } = await answer('{ row { size tags } }', { size: 'many', tags: ['x', null] })
  expect(data).toEqual({ row: null })
  expect(errors).toEqual([
    { message: 'Int cannot represent non-integer value: "many"', path: ['row', 'size'] },
    { message: expect.stringContaining('Cannot return null for non-nullable field'), path: ['row', 'tags', 1] },
  ])
  const { errors: missing } = await answer('{ row { name } }', { name: null })
  expect(missing).toEqual([{ message: expect.stringContaining('Row.name'), path: ['row', 'name'] }])
})

test('keeps an alias named __proto__', async () => {
  const { data } = await answer('{ row { __proto__: name } }', { name: 'a' })
  expect(JSON.stringify(data)).toBe('{"row":{"__proto__":"a"}}')
})

test.each([
  ['has the selected columns', { select: { columns: { name: true } } }, { name: 'a' }, 'its own: a'],
  ['has the selected extras', { select: { extras: { name: {} } } }, { name: 'a' }, 'its own: a'],
  ['has a null in a selected column', { select: { columns: { name: true } } }, { name: null }, 'its own: null'],
  ['lacks a selected column', { select: { columns: { name: true, size: true } } }, { name: 'a' }, 'planned'],
  ['belongs to a field that selects a relation', { select: { columns: { name: true }, with: {} } }, { name: 'a' }, 'planned'],
  ['belongs to a field that selects by arguments', { select: () => ({}) }, { name: 'a' }, 'planned'],
  ['belongs to a protected field', { select: { columns: { name: true } }, authScopes: {} }, { name: 'a' }, 'planned'],
])('calls the resolver of a computed field at once only when allowed: the row %s', async (_title, options, row, expected) => {
  const resolve = (source: { name: string | null }) => `its own: ${source.name}`
  const type = new GraphQLObjectType({
    name: 'Row',
    fields: {
      title: { type: GraphQLString, extensions: { pothosOptions: { resolve, ...options } }, resolve: () => 'planned' },
    },
  })
  const query = new GraphQLObjectType({ name: 'Query', fields: { row: { type, resolve: () => row } } })
  expect(await ask(readLoadedColumns(new GraphQLSchema({ query })), '{ row { title } }')).toEqual({
    data: { row: { title: expected } },
  })
})
