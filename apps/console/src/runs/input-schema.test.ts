import { expect, test } from 'vitest'
import { fieldsOf, shownFields, varsFrom } from './input-schema.ts'

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
const fields = fieldsOf(schema, { mode: 'systemd' })
const shown = (typed: Record<string, string>) => shownFields(fields, typed).map(({ name }) => name)

test('a schema becomes fields, each followed by those that hang on it; what a form cannot draw is left out', () => {
  expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'token secret',
    'version text',
    'mode choice',
    'image text',
    'install yes',
    'cuda text',
    'cuda_samples yes',
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
  expect(fieldsOf(null, {})).toEqual([])
})

test('a field shows while the other has the value that it hangs on, typed or by itself', () => {
  expect(shown({})).not.toContain('image')
  expect(shown({ mode: '1' })).toContain('image')
  expect(shown({})).toContain('cuda')
  expect(shown({ install: 'false', cuda: '12' })).not.toContain('cuda')
  expect(shown({ install: 'false', cuda: '12' })).not.toContain('cuda_samples')
  expect(shown({ cuda: '12' })).toContain('cuda_samples')
})

test('only what is given and shown becomes variables, of the right types', () => {
  expect(
    varsFrom(fields, {
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

test('two fields that hang on each other are both shown', () => {
  const circle = fieldsOf(
    { properties: { a: { type: 'string', 'x-show-if': { b: '1' } }, b: { type: 'string', 'x-show-if': { a: '1' } } } },
    {},
  )
  expect(shownFields(circle, { a: '1', b: '1' })).toHaveLength(2)
})
