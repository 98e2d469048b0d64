import fc from 'fast-check'
import { expect } from 'vitest'
import { endpointOf, resolveTarget } from '../kernel/outbound/index.ts'

const parts = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255)
const dotted = (address: number) => parts(address).join('.')
const hex = (address: number) => address.toString(16).padStart(8, '0')
const mapped = (address: number) => `${hex(address).slice(0, 4)}:${hex(address).slice(4)}`
const digits = [
  (part: number) => String(part),
  (part: number) => `0x${part.toString(16)}`,
  (part: number) => `0${part.toString(8)}`,
]

/** Notations of an IPv4 address that URL parsers accept. */
const NOTATIONS: ((address: number) => string)[] = [
  dotted,
  (address) => `${dotted(address)}.`,
  String,
  (address) => `0x${hex(address)}`,
  (address) => `0${address.toString(8)}`,
  ...digits.map((digit) => (address: number) => parts(address).map(digit).join('.')),
  (address) =>
    parts(address)
      .map((part, i) => digits[i % 3]!(part))
      .join('.'),
  (address) => `${parts(address)[0]}.${address % 2 ** 24}`,
  (address) => `${parts(address)[0]}.${parts(address)[1]}.${address % 2 ** 16}`,
  (address) => `[::ffff:${dotted(address)}]`,
  (address) => `[::ffff:${mapped(address)}]`,
  (address) => `[0:0:0:0:0:FFFF:${mapped(address).toUpperCase()}]`,
  (address) => dotted(address).replace(/\d/g, (digit) => `%3${digit}`),
  (address) => dotted(address).replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (address) => dotted(address).replaceAll('.', '。'),
  (address) => `user:10.0.0.1@${dotted(address)}`,
]
/** Notations that contain an IPv4 address in an IPv6 address that is always local. */
const TRANSITIONS: ((address: number) => string)[] = [
  (address) => `[64:ff9b::${mapped(address)}]`,
  (address) => `[2002:${mapped(address)}::]`,
  (address) => `[::${mapped(address)}]`,
]

/** Local IPv4 networks, first and last address: written independently of the code under test. */
const LOCAL = [
  ['0.0.0.0', '0.255.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['100.100.100.200', '100.100.100.200'],
  ['192.0.0.192', '192.0.0.192'],
  ['168.63.129.16', '168.63.129.16'],
  ['224.0.0.0', '255.255.255.255'],
].map((range) => range.map((text) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)) as [number, number])
const isLocal = (address: number) => LOCAL.some(([first, last]) => address >= first && address <= last)

const Address = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  // Inside the local networks, and the addresses next to their ends.
  ...LOCAL.map(([first, last]) => fc.integer({ min: Math.max(0, first - 1), max: Math.min(0xffffffff, last + 1) })),
)

/** Tries random addresses in random notations: exactly the local ones are rejected. @param count number of URLs */
export async function abuseUrls(count: number): Promise<void> {
  const Notation = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...NOTATIONS) }, fc.constantFrom(...TRANSITIONS))
  const property = fc.asyncProperty(Address, Notation, fc.constantFrom('http', 'https'), async (address, notation, protocol) => {
    const url = new URL(`${protocol}://${notation(address)}:8080/`)
    const { host, port } = endpointOf(url)
    const outcome = await resolveTarget(host, port, []).then(
      () => 'allowed',
      () => 'rejected',
    )
    const expected = isLocal(address) || TRANSITIONS.includes(notation) ? 'rejected' : 'allowed'
    expect({ url: url.href, outcome }).toEqual({ url: url.href, outcome: expected })
  })
  await fc.assert(property, { numRuns: count })
}
