import { expect, test } from 'vitest'
import { InvalidInput } from '../kernel/errors.ts'
import { parseVars } from './parse-vars.ts'

test.each([
  ['', {}],
  ['# nothing but a comment\n', {}],
  ['a: 1 # why\nb: [x, {c: null}]\n', { a: 1, b: ['x', { c: null }] }],
  ['{"a": 1e3, "b": "yes", "c": {"<<": 1}}', { a: 1000, b: 'yes', c: { '<<': 1 } }],
  // As Ansible parses it.
  ['a: yes\nb: off\nc: y\nd: 0755\ne: 1.5\nf: ~\n', { a: true, b: false, c: 'y', d: 493, e: 1.5, f: null }],
  ['base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3\n', { base: { x: 1, y: 2 }, more: { x: 1, y: 3 } }],
  ['a: &a [1]\nb: *a\n', { a: [1], b: [1] }],
  ["motd: \"{{ lookup('pipe', 'id') }}\"\n", { motd: "{{ lookup('pipe', 'id') }}" }],
  ['a: {"__proto__": {"b": 1}}', { a: Object.fromEntries([['__proto__', { b: 1 }]]) }],
  [
    'ansible_python_interpreter: /usr/bin/python3.12\nansible_ssh_timeout: 30\n',
    { ansible_python_interpreter: '/usr/bin/python3.12', ansible_ssh_timeout: 30 },
  ],
])('%j', (text, vars) => {
  expect(parseVars(text)).toStrictEqual(vars)
})

test.each([
  ['a: [1\nb: 2', /^line 2, column 1: /],
  ['a: 1\na: 2\n', /^line 2, column 1: a occurs twice$/],
  ['{"a": {"b": 1, "b": 2}}', /^line 1, column 16: b occurs twice$/],
  ['- a\n', /^line 1, column 1: must be a mapping/],
  ['just text', /^line 1, column 1: must be a mapping/],
  ['a: 2024-01-01\n', /^line 1, column 4: JSON does not support dates; put it in quotes$/],
  ['a: .inf\n', /^line 1, column 4: must be a finite number$/],
  ['a: 12345678901234567890\n', /^line 1, column 4: the number is too large/],
  ['mac: 11:22:33\n', /^line 1, column 6: 11:22:33 is a base-60 number in YAML 1.1/],
  ['a: !!set {x, z}\n', /JSON does not support tag:yaml.org,2002:set/],
  ['a: !!binary aGVsbG8=\n', /JSON does not support binary data/],
  ['a: !vault |\n  1234\n', /^line 1, column 4: Unresolved tag: !vault/],
  ['a: {{ y }}\n', /^line 1, column 4: quote the value: "\{\{ y \}\}"$/],
  ['a: {1: x}\n', /^line 1, column 5: this key is not text/],
  ['a: {on: x}\n', /^line 1, column 5: this key is not text/],
  ['a: {[1]: x}\n', /this key is not text/],
  ['a: *b\n', /^line 1, column 4: no anchor &b is defined before this alias$/],
  ['a: &a [*a]\n', /no anchor &a is defined before this alias/],
  ['a: 1\n---\nb: 2\n', /^line 2, column 1: .*multiple documents/],
  ['a-b: 1\n', /^line 1, column 1: a-b: must contain only letters/],
  ['\nhostvars: 1\n', /^line 2, column 1: hostvars: Ansible itself sets/],
  ['muster_rack: 1', /muster_rack: Muster itself sets/],
  ['ansible_connection: local\n', /ansible_connection: .*admins may set ansible_python_interpreter/],
  ['ansible_host: 127.0.0.1\n', /ansible_host/],
  ['ansible_ssh_common_args: -o ProxyCommand=id\n', /ansible_ssh_common_args/],
  ['ansible_python_interpreter: "{{ lookup(1) }}"\n', /must be the path of a Python interpreter/],
  ['ansible_become_flags: "-n; id"\n', /must be options of sudo/],
  [`a: "${'\\0'}"\n`, /must not contain NUL/],
  ['a: [{b: {__ansible_unsafe: 5}}]\n', /^line 1, column 10: keys that begin with __ansible_/],
  [`a: ${'['.repeat(40)}${']'.repeat(40)}\n`, /nested deeper than 32/],
])('%j is rejected', (text, message) => {
  const error = (() => {
    try {
      return parseVars(text)
    } catch (thrown) {
      return thrown
    }
  })()
  expect(error).toBeInstanceOf(InvalidInput)
  expect((error as InvalidInput).issues[0]).toEqual({ path: 'text', message: expect.stringMatching(message) })
})

test('rejects aliases that expand without bounds', () => {
  const laughs = ['a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha]']
  for (let i = 1; i < 20; i++)
    laughs.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    )
  expect(() => parseVars(laughs.join('\n'))).toThrow(/expands to more than 100000 values/)
  const long = `a: &a "${'x'.repeat(10_000)}"\nb: [${Array(100).fill('*a').join(', ')}]`
  expect(() => parseVars(long)).toThrow(/more than 262144 bytes as JSON/)
  expect(() => parseVars(`a: ${'x'.repeat(300_000)}`)).toThrow(/more than 262144 bytes/)
  expect(() => parseVars(`a: ${'['.repeat(200_000)}`)).toThrow(InvalidInput)
  const many = Array.from({ length: 20_000 }, (_, i) => `v${i}: ${i % 7}`).join('\n')
  expect(Object.keys(parseVars(many))).toHaveLength(20_000)
  expect(() => parseVars(`${many}\nv17: 1`)).toThrow('line 20001, column 1: v17 occurs twice')
})
