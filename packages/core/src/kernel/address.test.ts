import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Host, hostPort, NodeName, parseHost, parseNodeName, parsePort, parseUser, User } from './address.ts'
import { InvalidInput } from './errors.ts'

/** Texts that must never reach a command line, an inventory or a config file. */
const TRICKS = [
  '',
  ' ',
  '-',
  '-oProxyCommand=touch /tmp/x',
  '--help',
  'a;b',
  'a b',
  ' a',
  'a ',
  '$(x)',
  '`x`',
  'a|b',
  'a&b',
  "a'b",
  'a"b',
  'a\\b',
  'a\nb',
  'a\n',
  'a\r',
  'a\tb',
  'a\u0000b',
  'a\u0000',
  'a\u202eb',
  'größe',
  'ｇpu1',
  'a,b',
  'a=b',
  'a{b}',
  '{{ x }}',
  'a*',
  'a?',
  'a<b',
  'a>b',
  'a!b',
  'a#b',
  'a~b',
]

describe.each([
  ['host', parseHost],
  ['user', parseUser],
  ['node name', parseNodeName],
] as const)('a %s', (_what, parse) => {
  test.each(TRICKS)('rejects %j', (text) => {
    expect(() => parse(text)).toThrow(InvalidInput)
  })
})

test('accepts only harmless text', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: fc.constantFrom(...'abz019.-_:%[]@ \n$;\'"\\'), maxLength: 20 }),
  )
  fc.assert(
    fc.property(texts, (text) => {
      for (const schema of [Host, User, NodeName]) {
        const parsed = schema.safeParse(text)
        if (parsed.success) expect(parsed.data).toMatch(/^[A-Za-z0-9_:][A-Za-z0-9._:@%+-]*$/)
      }
    }),
    { numRuns: 5000 },
  )
})

describe('parseHost', () => {
  test.each([
    ['gpu1', 'gpu1'],
    ['GPU1.Example.COM', 'gpu1.example.com'],
    ['gpu1.example.com.', 'gpu1.example.com'],
    ['rack_1-a', 'rack_1-a'],
    ['xn--gre-6ka8f.de', 'xn--gre-6ka8f.de'],
    ['10.0.0.1', '10.0.0.1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['::1', '::1'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['[FE80::1%Eth0.5]', 'fe80::1%Eth0.5'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['3com', '3com'],
  ])('takes %s as %s', (text, host) => {
    expect(parseHost(text)).toBe(host)
  })

  test.each([
    '300.1.1.1',
    '1.2.3',
    '127.1',
    '0x7f.1',
    '2130706433',
    '1.2.3.4.5',
    'gpu1:22',
    '[gpu1]',
    '[10.0.0.1]',
    '[::1',
    '::1]',
    '[[::1]]',
    '[::1]:22',
    'fe80::1%',
    'fe80::1%-x',
    'fe80::1%a%b',
    'fe80::1%a;b',
    'gpu1%eth0',
    'a..b',
    '.a',
    'a-',
    'a.-b',
    '.',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}ab`,
  ])('rejects %s', (text) => {
    expect(() => parseHost(text)).toThrow(InvalidInput)
  })

  test('is idempotent', () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6()), (text) => {
        const parsed = Host.safeParse(text)
        if (parsed.success) expect(parseHost(parsed.data)).toBe(parsed.data)
      }),
    )
  })

  test('accepts every IP address', () => {
    fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => Host.safeParse(text).success))
  })
})

test.each([0, -1, 65_536, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('parsePort rejects %d', (port) => {
  expect(() => parsePort(port)).toThrow(InvalidInput)
})
test('parsePort accepts 1 and 65535', () => {
  expect([parsePort(1), parsePort(65_535)]).toEqual([1, 65_535])
})

test.each(['root', 'svc_ansible', 'j.doe', 'j.doe@corp.example', '_x', '0day', 'a-b'])('parseUser accepts %s', (user) => {
  expect(parseUser(user)).toBe(user)
})

test.each(['all', 'ALL', 'ungrouped', 'localhost', 'hostvars', 'groups', '127.0.0.1', '.hidden', '_x', 'a'.repeat(65)])(
  'parseNodeName rejects %s',
  (name) => {
    expect(() => parseNodeName(name)).toThrow(InvalidInput)
  },
)
test.each(['gpu001', 'rack1.gpu-2', '10.0.0.1', 'A'])('parseNodeName accepts %s', (name) => {
  expect(parseNodeName(name)).toBe(name)
})

test('hostPort brackets IPv6', () => {
  expect([hostPort('gpu1', 22), hostPort('::1', 2222)]).toEqual(['gpu1:22', '[::1]:2222'])
})
