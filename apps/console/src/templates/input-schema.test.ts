import { expect, test } from 'vitest'
import { parseFields, toVars, visibleFields } from './input-schema.ts'

const schema = {
  type: 'object',
  required: ['token', 'port'],
  properties: {
    image: { type: 'string', 'x-show-if': { mode: 'docker' } },
    version: { type: 'string', description: 'Branch.', examples: ['535'] },
    mode: { enum: ['systemd', 'docker', 3], title: 'How' },
    install: { type: 'boolean', examples: [true] },
    cuda: { type: 'string', 'x-show-if': { install: true } },
    cuda_samples: { type: 'boolean', 'x-show-if': { cuda: '12' } },
    port: { type: 'integer', minimum: 1, maximum: 65_535, default: 9100 },
    token: { type: 'string', 'x-secret': true },
    packages: { type: 'array', items: { type: 'string' } },
    tree: { type: 'object' },
  },
}
const fields = parseFields(schema, { mode: 'systemd' })
const shown = (typed: Record<string, string>) => visibleFields(fields, typed).map(({ name }) => name)

test('orders fields before their dependents and skips unsupported types', () => {
  expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'token secret',
    'version text',
    'mode choice',
    'image text',
    'install boolean',
    'cuda text',
    'cuda_samples boolean',
    'port number',
    'packages lines',
  ])
  expect(fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual(['token'])
  expect(Object.fromEntries(fields.map(({ name, fallback }) => [name, fallback]))).toMatchObject({
    version: '535',
    mode: 'systemd',
    install: true,
    port: 9100,
    image: undefined,
  })
  expect(parseFields(null, {})).toEqual([])
})

test('shows a field while its condition holds for the entered or default value', () => {
  expect(shown({})).not.toContain('image')
  expect(shown({ mode: '1' })).toContain('image')
  expect(shown({})).toContain('cuda')
  expect(shown({ install: 'false', cuda: '12' })).not.toContain('cuda')
  expect(shown({ install: 'false', cuda: '12' })).not.toContain('cuda_samples')
  expect(shown({ cuda: '12' })).toContain('cuda_samples')
})

test('converts visible, non-empty fields to typed variables', () => {
  expect(
    toVars(fields, {
      version: '',
      mode: '2',
      image: 'hidden',
      install: 'false',
      cuda: '12',
      port: '80',
      packages: 'a\n\n b\n',
    }),
  ).toEqual({ mode: 3, install: false, port: 80, packages: ['a', ' b'] })
})

test('shows fields with circular conditions', () => {
  const circle = parseFields(
    { properties: { a: { type: 'string', 'x-show-if': { b: '1' } }, b: { type: 'string', 'x-show-if': { a: '1' } } } },
    {},
  )
  expect(visibleFields(circle, { a: '1', b: '1' })).toHaveLength(2)
})
