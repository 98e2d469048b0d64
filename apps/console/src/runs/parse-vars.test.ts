import { expect, test } from 'vitest'
import { parseVars } from './parse-vars.ts'

test('reads YAML and JSON as Ansible does', () => {
  expect(parseVars('cuda: no\narch: y\nmode: 0755\nlist: [a, 1.5]')).toEqual({
    vars: { cuda: false, arch: 'y', mode: 493, list: ['a', 1.5] },
    error: null,
  })
  expect(parseVars('{"a": "{{ lookup(\'pipe\', \'id\') }}"}').vars).toEqual({ a: "{{ lookup('pipe', 'id') }}" })
  expect(parseVars(' \n')).toEqual({ vars: null, error: null })
  expect(parseVars('# nothing')).toEqual({ vars: null, error: null })
})

test('names the problem and how to fix it', () => {
  expect(parseVars('just words').error).toBe('Enter a mapping, such as name: value')
  expect(parseVars('a: [1').error).toMatch(/at line 1/)
  expect(parseVars('at: 11:22').error).toBe('Quote the value: "11:22"')
  expect(parseVars('on: 2026-01-02').error).toBe('Quote the value: "2026-01-02"')
  expect(parseVars('x: {{ y }}').error).toBe('Quote the value: "{{ y }}"')
  expect(parseVars('a: &x [1]\nb: *x').error).toMatch(/alias/i)
})
