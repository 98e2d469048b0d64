import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expandAddresses, MAX_ADDRESSES } from './addresses.ts'

test.each<[string[], string[]]>([
  [
    ['10.0.1.7', 'BMC-1.example.org', '10.0.1.7'],
    ['10.0.1.7', 'bmc-1.example.org'],
  ],
  [['10.0.1.0/30'], ['10.0.1.1', '10.0.1.2']],
  [['10.0.1.9/31'], ['10.0.1.8', '10.0.1.9']],
  [['10.0.1.9/32'], ['10.0.1.9']],
  [['10.0.0.254-10.0.1.1'], ['10.0.0.254', '10.0.0.255', '10.0.1.0', '10.0.1.1']],
  [['10.0.1.8-10'], ['10.0.1.8', '10.0.1.9', '10.0.1.10']],
  [['fd00::1'], ['fd00::1']],
])('expands %j', (parts, addresses) => expect(expandAddresses(parts)).toEqual({ addresses }))

test.each([
  [['10.0.0.0/8'], /more than 4096/],
  [['10.0.0.0/20', '10.1.0.1'], null],
  [['10.0.0.0/20', '10.1.0.0/24'], /more than 4096/],
  [['10.0.1.9-10.0.1.1'], /is not a range/],
  [['10.0.1.0/33'], /is not an IPv4 network/],
  [['10.0.1.256'], /is not a valid IPv4 address/],
  [[' '], /at least one/],
  [['-oProxyCommand=x'], /must not begin with/],
])('bounds and checks %j', (parts, problem) => {
  const found = expandAddresses(parts)
  if (problem === null) expect(found).toHaveProperty('addresses')
  else expect(found).toEqual({ problem: expect.stringMatching(problem) })
})

test('never returns more addresses than a discovery may have', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  const address = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'))
  const part = fc.oneof(
    fc.tuple(address, fc.integer({ min: 0, max: 32 })).map(([a, n]) => `${a}/${n}`),
    fc.tuple(address, address).map(([a, b]) => `${a}-${b}`),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      const found = expandAddresses(parts)
      if ('addresses' in found) expect(found.addresses.length).toBeLessThanOrEqual(MAX_ADDRESSES)
    }),
  )
})
