import { expect, test } from 'vitest'
import { parseYaml } from './yaml.ts'

test('parses YAML 1.1 as PyYAML does', () => {
  expect(parseYaml('a: yes\nb: {c: [1, "2", 0o7]}\nd: &x {e: 1}\nf: *x\ng:\n  <<: *x\n  h: 2\n')).toEqual({
    ...{ a: true, b: { c: [1, '2', '0o7'] }, d: { e: 1 }, f: { e: 1 } },
    g: { e: 1, h: 2 },
  })
  expect(parseYaml('')).toBe(null)
})

test.each([
  ['a: 1\nb: 2\na: 3', 'line 3, column 1: the key a occurs twice'],
  ['a:\n  - b: 1\n    b: 2', 'line 3, column 5: the key b occurs twice'],
  ['a: [1', 'line 1'],
  ['a: !!python/object:os.system x', 'line 1, column 4'],
  ['a: *nowhere', 'nowhere'],
  ['a: 1\n--- \nb: 2', 'line'],
  [`a: ${'['.repeat(5000)}`, 'line 1'],
  [`${Array.from({ length: 200 }, (_, i) => `${'  '.repeat(i)}a:`).join('\n')} 1`, 'nested deeper than 64 levels'],
])('rejects %.40j with the place', (text, message) => expect(() => parseYaml(text)).toThrow(message))

test('rejects aliases that expand to billions of values', () => {
  const names = [...'abcdefghij']
  const lines = names.map(
    (name, i) =>
      `${name}: &${name} [${
        i === 0
          ? 'x'
          : Array(10)
              .fill(`*${names[i - 1]}`)
              .join(',')
      }]`,
  )
  expect(() => parseYaml(lines.join('\n'))).toThrow(/alias/i)
})

test('reads a mapping with many keys in linear time', () => {
  const keys = 20_000
  const text = Array.from({ length: keys }, (_, i) => `k${i}: ${i}`).join('\n')
  expect(Object.keys(parseYaml(text) as object)).toHaveLength(keys)
})
