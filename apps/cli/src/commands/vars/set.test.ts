import { expect, it } from 'vitest'
import { edited } from './set.ts'

const TEXT = '# clocks\nntp: 10.0.0.1 # the old one\nnet: {mtu: 1500}\n'

it('sets single names and leaves the rest of the text as it is', () => {
  expect(edited(TEXT, ['ntp=10.0.0.2', 'dns=[a, b]', 'on_call=yes', 'arch=y', 'at=11:22'], [])).toBe(
    '# clocks\nntp: 10.0.0.2 # the old one\nnet: {mtu: 1500}\ndns: [a, b]\non_call: yes\narch: y\nat: 11:22\n',
  )
  expect(edited(TEXT, [], ['ntp'])).not.toContain('ntp:')
  expect(edited('', ['a=1'], [])).toBe('a: 1\n')
  expect(JSON.parse(edited('{"a": 1}', ['b=x'], []))).toEqual({ a: 1, b: 'x' })
})

it('says what is wrong with an assignment', () => {
  expect(() => edited(TEXT, ['ntp'], [])).toThrow('ntp is not name=value.')
  expect(() => edited(TEXT, ['ntp=[1'], [])).toThrow(/ntp: the value is no YAML/)
  expect(() => edited('- a', ['b=1'], [])).toThrow('not names with values')
})
