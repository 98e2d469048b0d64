import fc from 'fast-check'
import { expect, test } from 'vitest'
import { macPattern, parseMac } from './mac.ts'

test.each([
  ['02:00:5E:10:00:ff', '02:00:5e:10:00:ff'],
  ['02-00-5e-10-00-ff', '02:00:5e:10:00:ff'],
  [' 0200.5E10.00FF ', '02:00:5e:10:00:ff'],
  ['02005e1000ff', '02:00:5e:10:00:ff'],
  ['02:00-5e:10:00:ff', null],
  ['02:00:5e:10:00', null],
  ['02:00:5e:10:00:ff:01', null],
  ['02:00:5e:10:00:fg', null],
  ['00:00:00:00:00:00', null],
  ['ff:ff:ff:ff:ff:ff', null],
  ['01:00:5e:00:00:01', null],
  ['', null],
])('parses %j as %j', (text, mac) => {
  expect(parseMac(text)).toBe(mac)
})

test.each([
  ['02-00-5E-*', '02:00:5e:*'],
  ['0200.5E*', '02:00:5e*'],
  ['02005e1*', '02:00:5e:1*'],
  ['*0FF', '*0:ff'],
  ['02*10*00ff', '02*10*00:ff'],
  ['02005e1000f?', '02:00:5e:10:00:f?'],
  ['*', '*'],
])('normalizes the pattern %j to %j', (text, pattern) => {
  expect(macPattern(text)).toBe(pattern)
})

test('all forms of an address are one address; other text is none', () => {
  const bytes = fc.uint8Array({ minLength: 6, maxLength: 6 }).filter((mac) => mac[0]! % 2 === 0 && mac.some((byte) => byte > 0))
  fc.assert(
    fc.property(bytes, (mac) => {
      const hex = [...mac].map((byte) => byte.toString(16).padStart(2, '0'))
      const forms = [hex.join(':'), hex.join('-').toUpperCase(), hex.join(''), hex.join('').replace(/(.{4})(?=.)/g, '$1.')]
      expect(forms.map(parseMac)).toEqual(forms.map(() => hex.join(':')))
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(parseMac(text) ?? '02:00:00:00:00:00').toMatch(/^(..:){5}..$/)
    }),
  )
})
