import { expect, it } from 'vitest'
import { editText } from './set.ts'

const TEXT = '# clocks\nntp: 10.0.0.1 # the old one\nnet: {mtu: 1500}\n'

it('sets single variables and keeps the rest of the text', () => {
  expect(editText(TEXT, ['ntp=10.0.0.2', 'dns=[a, b]', 'on_call=yes', 'arch=y', 'at=11:22'], [])).toBe(
    '# clocks\nntp: 10.0.0.2 # the old one\nnet: {mtu: 1500}\ndns: [a, b]\non_call: yes\narch: y\nat: 11:22\n',
  )
  expect(editText(TEXT, [], ['ntp'])).not.toContain('ntp:')
  expect(editText('', ['a=1'], [])).toBe('a: 1\n')
  expect(JSON.parse(editText('{"a": 1}', ['b=x'], []))).toEqual({ a: 1, b: 'x' })
})

it('explains an invalid assignment', () => {
  expect(() => editText(TEXT, ['ntp'], [])).toThrow('Invalid assignment: ntp.')
  expect(() => editText(TEXT, ['ntp=[1'], [])).toThrow(/ntp: the value is not valid YAML/)
  expect(() => editText('- a', ['b=1'], [])).toThrow('not a mapping')
})
