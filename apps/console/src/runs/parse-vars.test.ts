import { expect, test } from 'vitest'
import { parseVars } from './parse-vars.ts'

test('extra vars mean what they mean to Ansible', () => {
  expect(parseVars('cuda: no\narch: y\nmode: 0755\nlist: [a, 1.5]', 'no object')).toEqual({
    vars: { cuda: false, arch: 'y', mode: 493, list: ['a', 1.5] },
    error: null,
  })
  expect(parseVars('{"a": "{{ lookup(\'pipe\', \'id\') }}"}', '').vars).toEqual({ a: "{{ lookup('pipe', 'id') }}" })
  expect(parseVars(' \n', '')).toEqual({ vars: null, error: null })
  expect(parseVars('# nothing', '')).toEqual({ vars: null, error: null })
})

test('what is wrong is said', () => {
  expect(parseVars('just words', 'no object').error).toBe('no object')
  expect(parseVars('a: [1', '').error).toMatch(/at line 1/)
  expect(parseVars('at: 11:22', '').error).toBe('11:22: put it in quotes')
  expect(parseVars('on: 2026-01-02', '').error).toBe('2026-01-02: put it in quotes')
  expect(parseVars('a: &x [1]\nb: *x', '').error).toMatch(/alias/i)
})
