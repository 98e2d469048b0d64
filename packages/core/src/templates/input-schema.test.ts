import { expect, test } from 'vitest'
import { InvalidInput } from '../kernel/errors.ts'
import { fillIn, inputSchemaIssues, secretNames } from './input-schema.ts'

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  type: 'object',
  properties,
  ...more,
})

const DRIVER = object(
  {
    branch: { type: 'string', enum: ['550', '570'] },
    flavour: { type: 'string', enum: ['open', 'closed'], default: 'open' },
    forks: { type: 'integer', minimum: 1, maximum: 16 },
    key: { type: 'string', pattern: '^[A-Z]{4}$', 'x-secret': true, 'x-show-if': { flavour: 'closed' } },
    mirror: { type: 'object', properties: { url: { type: 'string', pattern: '^https://' } }, required: ['url'] },
  },
  { required: ['branch'], additionalProperties: false },
)

const issuesOf = (vars: Record<string, unknown>) => {
  try {
    return fillIn(DRIVER, vars)
  } catch (error) {
    return (error as InvalidInput).issues
  }
}

test('accepts a valid schema', () => {
  expect(inputSchemaIssues(DRIVER)).toEqual([])
  expect(secretNames(DRIVER)).toEqual(['key'])
  expect(secretNames(null)).toEqual([])
})

test('fills in defaults without changing its input', () => {
  const given = { branch: '550' }
  expect(fillIn(DRIVER, given)).toEqual({ branch: '550', flavour: 'open' })
  expect(given).toEqual({ branch: '550' })
  expect(fillIn(null, { anything: 1 })).toEqual({ anything: 1 })
})

test.each<[Record<string, unknown>, string, string]>([
  [{}, 'extraVars.branch', 'is missing'],
  [{ branch: '1' }, 'extraVars.branch', 'must be one of 550, 570'],
  [{ branch: 550 }, 'extraVars.branch', 'must be of type string'],
  [{ branch: '550', forks: 17 }, 'extraVars.forks', 'must be <= 16'],
  [{ branch: '550', forks: 1.5 }, 'extraVars.forks', 'must be of type integer'],
  [{ branch: '550', other: 1 }, 'extraVars.other', 'is not known to this template'],
  [{ branch: '550', mirror: {} }, 'extraVars.mirror.url', 'is missing'],
  [{ branch: '550', mirror: { url: 'ftp://x' } }, 'extraVars.mirror.url', 'must match pattern "^https://"'],
])('%j is rejected at %s', (vars, path, message) => {
  expect(issuesOf(vars)).toContainEqual({ path, message })
})

test('messages about a secret do not contain it', () => {
  expect(JSON.stringify(issuesOf({ branch: '550', key: 'hunter2hunter2' }))).not.toContain('hunter2')
})

test.each<[string, Record<string, unknown>]>([
  ['type', { properties: {} }],
  ['$schema', { ...object({}), $schema: 'http://json-schema.org/draft-07/schema#' }],
  ['properties.a.$ref', object({ a: { $ref: 'https://schemas.test/a.json' } })],
  ['properties.a.$ref', object({ a: { $ref: '#' } })],
  ['properties.a.type', object({ a: { type: 'strin' } })],
  ['properties.a.typ', object({ a: { typ: 'string' } })],
  ['properties.a.pattern', object({ a: { type: 'string', pattern: 3 } })],
  ['properties.a.items.pattern', object({ a: { type: 'array', items: { pattern: '(?=b)' } } })],
  ['properties.ansible_host', object({ ansible_host: {} })],
  ['properties.a-b', object({ 'a-b': {} })],
  ['properties.a.default', object({ a: { type: 'string', 'x-secret': true, default: 'x' } })],
  ['properties.a.type', object({ a: { type: 'integer', 'x-secret': true } })],
  [
    'properties.a.properties.b.x-secret',
    object({ a: { type: 'object', properties: { b: { type: 'string', 'x-secret': true } } } }),
  ],
  ['properties.a.x-show-if.b', object({ a: { 'x-show-if': { b: 1 } } })],
  ['properties.a.x-show-if', object({ a: { 'x-show-if': 'b' } })],
  ['properties.a.uniqueItems', object({ a: { type: 'array', uniqueItems: true } })],
])('a schema is rejected at %s', (path, schema) => {
  expect(inputSchemaIssues(schema)).toContainEqual({ path, message: expect.any(String) })
})

test('rejects an unknown type and names the valid types', () => {
  const [issue, ...more] = inputSchemaIssues(object({ a: { type: 'strin' } }))
  expect(issue).toMatchObject({ path: 'properties.a.type', message: expect.stringContaining('number, object, string') })
  expect(more).toEqual([{ path: 'properties.a.type', message: 'must be of type array' }])
})

test('limits the size and depth of a schema, which must compile', () => {
  expect(inputSchemaIssues(object({ a: { description: 'x'.repeat(70_000) } }))[0]!.message).toMatch(/at most 65536/)
  const deep = Array.from({ length: 20 }).reduce<object>((inner) => ({ type: 'array', items: inner }), {})
  expect(inputSchemaIssues(object({ a: deep }))[0]!.message).toMatch(/deeper than/)
  expect(inputSchemaIssues(object({ a: { type: 'string', pattern: '(' } }))).toHaveLength(1)
})

test('matches every pattern in bounded time', () => {
  const schema = object({ a: { type: 'string', pattern: '^(a+)+$' } })
  expect(inputSchemaIssues(schema)).toEqual([])
  expect(() => fillIn(schema, { a: `${'a'.repeat(5000)}!` })).toThrow(InvalidInput)
})
