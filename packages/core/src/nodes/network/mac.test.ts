import fc from 'fast-check'
import { expect, test } from 'vitest'
import { macPattern, parseHardwareAddress, parseMac } from './mac.ts'

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
  ['80:00:02:08:FE:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52', '80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52'],
  ['80-00-02-08-fe-80-00-00-00-00-00-00-7c-fe-90-03-00-29-26-52', '80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52'],
  ['80000208fe800000000000007cfe900300292652', '80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52'],
  ['81:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52', '81:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52'],
  ['02-00-5E-10-00-FF', '02:00:5e:10:00:ff'],
  ['80:00-02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52', null],
  ['80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26', null],
  ['00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff', null],
  ['00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00', null],
  ['ff:ff:ff:ff:ff:ff', null],
])('parses the hardware address %j as %j', (text, address) => {
  expect(parseHardwareAddress(text)).toBe(address)
})

test('an InfiniBand address is no MAC', () => {
  expect(parseMac('80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:52')).toBeNull()
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
