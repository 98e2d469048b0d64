import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import { readPlainYaml } from './plain-yaml.ts'

/** The value that the library reads; undefined when it reports a problem. */
function byLibrary(text: string): unknown {
  const document = parseDocument(text, { version: '1.2', intAsBigInt: false })
  return document.errors.length + document.warnings.length > 0 ? undefined : { value: document.toJS() }
}

const MANIFEST = `# A node
apiVersion: muster/v1
kind: ComputeNode
metadata:
  name: n1 # the first
spec:
  host: 10.1.0.11+
  nid: 7
  notes: "a \\"quoted\\" text: with # signs"
  tags: [a, b-c, 'it''s']
  labels: {}
  interfaces:
  - name: hsn0
    mac: 02:00:5e:00:00:01+
    isBoot: true
    addresses:
      - {address: 172.16.0.1, network: null}
`

test('reads a usual manifest, and its JSON', () => {
  const { value } = byLibrary(MANIFEST) as { value: object }
  expect(readPlainYaml(MANIFEST)).toEqual({ value, count: 23 })
  for (const space of [undefined, 2]) expect(readPlainYaml(JSON.stringify(value, null, space))).toEqual({ value, count: 23 })
})

test.each([
  'a: &x 1',
  'a: *x',
  'a: !!str 1',
  'a: |\n  b',
  'a: b\n  c',
  'a: 1\na: 2',
  'a:',
  '? a',
  'a:\tb',
  '"a": 1',
  'ä: 1',
  '- - a',
  '',
])('leaves %j to the library', (text) => expect(readPlainYaml(text)).toBeNull())

const scalars = fc.oneof(
  fc.constantFrom(
    'a',
    '1',
    '007',
    '0x1f',
    '1e3',
    '-0',
    '+1',
    '.5',
    '1.',
    '.inf',
    '~',
    'yes',
    'Null',
    'TRUE',
    '2020-01-01',
    '1_000',
  ),
  fc.constantFrom(
    'a: b',
    'a #b',
    '- a',
    '-a',
    '---',
    '...',
    'a:',
    ':a',
    '?',
    'a,b',
    '[a',
    '{a',
    '%a',
    '@a',
    '`a',
    '10.0.0.1',
    'x+',
  ),
  fc.string({ maxLength: 12 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
)
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    scalars,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.stringMatching(/^[A-Za-z][A-Za-z0-9_./-]{0,5}$/), tie('tree'), { maxKeys: 4 }),
  ),
}))

/** Never another value than the library, and none where the library reports a problem. */
function expectSame(text: string): void {
  const plain = readPlainYaml(text)
  if (plain) expect({ text, value: plain.value }).toEqual({ text, ...(byLibrary(text) as object | undefined) })
}

test('reads the same values as the library, in all its styles', () => {
  fc.assert(
    fc.property(tree, fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE'), fc.boolean(), (value, style, isFlow) => {
      expectSame(
        stringify(value, { defaultStringType: style as 'PLAIN', collectionStyle: isFlow ? 'flow' : 'any', lineWidth: 0 }),
      )
      expectSame(JSON.stringify(value))
      expectSame(JSON.stringify(value, null, 2))
    }),
    { numRuns: 1000 },
  )
})

test('reads the same values as the library after random edits', () => {
  const bits = [...`abn019:-?#&*!|>'"%@\`{}[],.~=+ \n\t`, ': ', '\n  ', '\n- ', ' #', '---\n', '"a"', 'null', '\u00e4']
  const edit = fc.record({ at: fc.nat(), text: fc.constantFrom(...bits), cut: fc.nat(3) })
  const starts = [MANIFEST, JSON.stringify((byLibrary(MANIFEST) as { value: object }).value, null, 1)]
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.array(edit, { minLength: 1, maxLength: 4 }), (start, edits) => {
      let text = start
      for (const { at, text: bit, cut } of edits) {
        const place = at % (text.length + 1)
        text = text.slice(0, place) + bit + text.slice(place + cut)
      }
      expectSame(text)
    }),
    { numRuns: 3000 },
  )
})
